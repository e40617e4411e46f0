"""`lqm study --tune`: settings are chosen on validation records, recorded, and taken by the study."""

import json
import re
from collections import Counter

import pytest

import lqm
from lqm.api import cell_pieces
from lqm.api.cells import Place, failed_line
from lqm.api.study import plan_study
from lqm.api.tuning import planned_trials
from lqm.studies.lines import CellLine, read_cells
from lqm.studies.tuned import read_tuned
from lqm.utils.errors import ConfigError, StoppedError

QUIET = {"device": "cpu", "show_progress": False}
GRID = """
[[grid]]
source = "digits"
method = "dm"
distance = ["mean", "lqm"]
per_class = 1
seed = "0..1"
tune = { learning_rate = [0.1, 1.0, 10.0], steps = [100, 300] }
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GRID)
    return path


@pytest.fixture
def ran(monkeypatch):
    """The cells that ran, each of which has a score at once: rate 1 and few steps are best for lqm."""
    cells = []

    def run(cell, head, place):
        cells.append(cell)
        settings = cell.settings | cell.tuned
        if settings.get("learning_rate") == 10.0:
            return failed_line(cell, head, place, "it diverged")
        fast = cell.axes["distance"] == "lqm"
        score = (
            0.9
            - 0.3 * (settings.get("learning_rate") != 1.0)
            - 0.1 * ((settings.get("steps") == 300) == fast)
        )
        scores = {"mlp": (score + cell.seed / 10_000,)}
        told = {"axes": cell.axes, "seed": cell.seed, "key": cell.key, "tuned": cell.tuned, "scores": scores}
        return CellLine(head, cell.name, **told)

    monkeypatch.setattr(cell_pieces, "run_cell", run)
    return cells


def test_each_distance_is_tuned_by_as_many_runs_and_keeps_its_own_choice(file, tmp_path, ran):
    found = lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    trials = [cell for cell in ran if cell.validation]
    assert Counter(cell.axes["distance"] for cell in trials) == {"mean": 13, "lqm": 13}
    assert {cell.seed for cell in trials} == {100, 101, 102, 103}
    assert not {cell.seed for cell in ran if not cell.validation} & {100, 101, 102, 103}
    chosen = {line.axes["distance"]: line.tuned for line in found.lines}
    assert chosen["mean"] == {"learning_rate": 1.0, "steps": 300}
    assert chosen["lqm"] == {"learning_rate": 1.0, "steps": 100}
    assert len(read_cells(tmp_path / "out" / "tuning.jsonl")) == 2 * 6 + 2 * 3 + 2 * 2 * 2


def test_what_was_chosen_is_recorded_with_all_it_was_chosen_by(file, tmp_path, ran):
    lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    lines = [*read_tuned(tmp_path / "out" / "tuned.jsonl").values()]
    assert [line.axes["distance"] for line in lines] == ["mean", "lqm"]
    for line in lines:
        assert line.runs == 13
        assert len(line.candidates) == 6
        assert [len(rung) for rung in line.rungs] == [6, 3, 2]
        assert [len(scores) for scores in line.rungs[-1].values()] == [4, 4]
        assert sum(scores == (None,) for scores in line.rungs[0].values()) == 2


def test_what_was_chosen_is_not_chosen_again_and_is_taken_without_tuning_too(file, tmp_path, ran):
    first = lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    ran.clear()
    for tune in (True, False):
        assert lqm.study(file, out=tmp_path / "out", tune=tune, **QUIET).lines == first.lines
    assert not ran


def test_a_stopped_tuning_goes_on_to_the_same_lines(file, tmp_path, ran, monkeypatch):
    run, left = cell_pieces.run_cell, [9]

    def stopping(*given):
        left[0] -= 1
        if left[0] < 0:
            raise StoppedError("stopped", 2)
        return run(*given)

    monkeypatch.setattr(cell_pieces, "run_cell", stopping)
    with pytest.raises(StoppedError):
        lqm.study(file, out=tmp_path / "one", tune=True, **QUIET)
    monkeypatch.setattr(cell_pieces, "run_cell", run)
    again = len(ran)
    resumed = lqm.study(file, out=tmp_path / "one", tune=True, **QUIET)
    whole = lqm.study(file, out=tmp_path / "two", tune=True, **QUIET)
    assert resumed.lines == whole.lines
    one, two = (
        {
            json.dumps([line.arm, line.chosen, line.rungs])
            for line in read_tuned(path / "tuned.jsonl").values()
        }
        for path in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two
    succeeded = [cell.name for cell in ran[:again] if (cell.settings | cell.tuned)["learning_rate"] != 10.0]
    assert not {*succeeded} & {cell.name for cell in ran[again : again + 21]}


def test_the_runs_to_come_are_counted_before_any(file, tmp_path, ran):
    _, cells, place = plan_study(file, tmp_path / "out", None, (), None, "cpu")
    assert len(planned_trials(cells, place)) == 26
    lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    assert not planned_trials(cells, Place(tmp_path / "out"))


def test_an_arm_whose_candidates_all_fail_is_named_and_the_others_are_chosen(file, tmp_path, ran, capsys):
    file.write_text(GRID + GRID.replace("per_class = 1", "per_class = 2").replace("0.1, 1.0, ", ""))
    lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    assert re.search(r"digits-dm-mean-2, .*: it diverged", capsys.readouterr().err)
    assert len(read_tuned(tmp_path / "out" / "tuned.jsonl")) == 2


@pytest.mark.parametrize(
    ("old", "new", "match"),
    [
        ("tune = ", "settings = { steps = 3 }\n# ", "nothing to tune"),
        ("1.0, 10.0", "-1.0", "learning_rate"),
    ],
)
def test_what_cant_be_tuned_is_refused_before_any_run(file, tmp_path, ran, old, new, match):
    file.write_text(GRID.replace(old, new))
    with pytest.raises(ConfigError, match=match):
        lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
    assert not ran


def test_tuning_in_earnest_of_images_by_a_sketch_and_of_a_stream(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("""
        [[grid]]
        source = "digits"
        method = "dm"
        per_class = 1
        networks = "mlp"
        protocol = "quick-200"
        compile = "off"
        network = "convnet:width=4:depth=1"
        sketch = { encoders = 2, real_batch = 8, compile = "off" }
        tune = { steps = [1, 2] }
        [[grid]]
        source = "synthetic:nodes=150,classes=4,features=8"
        method = "cat"
        distance = "mean"
        budget = 4
        classes_per_task = 2
        settings = { steps = 2, width = 8, epochs = 3, classifier = "gcn:width=8:depth=2" }
        tune = { learning_rate = [0.001, 0.1] }
    """)
    found = lqm.study(path, out=tmp_path / "out", tune=True, **QUIET)
    assert not found.failed
    trials = read_cells(tmp_path / "out" / "tuning.jsonl")
    assert [line.state for line in trials] == ["done"] * 4
    for line in trials:
        (record,) = (tmp_path / "out" / "runs").glob(f"{line.cell}-*/run.json")
        config = json.loads(record.read_text())["config"]
        assert config["source"].get("validation") or config["stream"]["validation"]
        assert not line.command
    for line, steps in zip(found.lines, ("steps", "learning_rate"), strict=True):
        assert line.tuned[steps] == line.settings[steps]


def test_a_tuning_of_which_no_run_works_is_refused(file, tmp_path, ran):
    file.write_text(GRID.replace("0.1, 1.0, ", ""))
    with pytest.raises(ConfigError, match="it diverged"):
        lqm.study(file, out=tmp_path / "out", tune=True, **QUIET)
