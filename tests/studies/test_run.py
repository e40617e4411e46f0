"""Running a study: cells once each, whatever happens between."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

import lqm
from lqm.api.cells import Place, command_of, request_of
from lqm.api.study_estimate import estimate
from lqm.api.study_probe import Probe, measure
from lqm.cli.dispatch import dispatch
from lqm.engine.probes import try_bf16
from lqm.executors.processes import _ended
from lqm.studies.files import load_study
from lqm.studies.lines import read_cells
from lqm.studies.tables import facts
from lqm.utils.errors import ConfigError
from tests.faults.children import command_line, start

STREAM = """
[[grid]]
source = "synthetic:nodes=300,classes=4"
method = "cat"
distance = ["mean", "lqm"]
budget = 4
classes_per_task = 2
seed = "0..1"
settings = { steps = STEPS, width = 8, epochs = 3, classifier_rate = 0.03 }
"""


def write(tmp_path, steps=3, more=""):
    path = tmp_path / "mini.toml"
    path.write_text(STREAM.replace("STEPS", str(steps)) + more)
    return path


def told(path):
    """What a line says that does not depend on the machine's speed."""
    lines = sorted(read_cells(path / "cells.jsonl"), key=lambda line: line.cell)
    return [replace(line, seconds={}) for line in lines]


def test_finished_cells_are_skipped_and_a_shared_seed_makes_pairs(tmp_path):
    study, out = write(tmp_path), tmp_path / "out"
    found = lqm.study(study, out=out, only=["seed=0"], show_progress=False)
    assert [line.cell for line in found.lines] == [line.cell for line in read_cells(out / "cells.jsonl")]
    before = (out / "cells.jsonl").read_bytes()
    again = lqm.study(study, out=out, only=["seed=0"], show_progress=False)
    assert (out / "cells.jsonl").read_bytes() == before
    assert again.lines == found.lines
    assert len(lqm.study(study, out=out, show_progress=False).lines) == 4


def test_a_cell_scores_what_its_command_scores(tmp_path, monkeypatch):
    study, out = write(tmp_path), tmp_path / "out"
    (line,) = lqm.study(study, out=out, only=["seed=1", "distance=lqm"], show_progress=False).lines
    monkeypatch.chdir(tmp_path)
    dispatch(line.command.split()[1:])
    result = json.loads((tmp_path / "RUN" / "result.json").read_text())
    assert [*line.scores.values()] == [tuple(result["average_accuracy"]["each"])]
    assert line.transfer == result["backward_transfer"]["mean"]


def test_what_is_chosen_by_looks_at_validation_records_and_says_so(tmp_path):
    path = write(tmp_path, steps=30)
    only = ["seed=0", "distance=lqm"]
    (usual,) = lqm.study(path, out=tmp_path / "usual", only=only, show_progress=False).lines
    path.write_text(path.read_text() + "validation = true\n")
    (apart,) = lqm.study(path, out=tmp_path / "apart", only=only, show_progress=False).lines
    assert apart.scores != usual.scores
    assert apart.protocol == f"{usual.protocol} on validation records"


def test_a_table_of_sets_says_that_they_were_scored_on_validation_records(tmp_path):
    path = tmp_path / "mini.toml"
    path.write_text(
        "[[grid]]\nsource = 'digits'\nmethod = 'random'\nper_class = 1\nprotocol = 'quick-200'\nrepeats = 2\n"
        "validation = true\n"
    )
    found = lqm.study(path, out=tmp_path / "out", show_progress=False)
    assert "quick-200 on validation records" in found._repr_html_()


def test_a_killed_study_resumes_to_the_same_lines(tmp_path):
    study = write(tmp_path, steps=150)
    lqm.study(study, out=tmp_path / "whole", show_progress=False)
    out = tmp_path / "killed"
    child = start(tmp_path, command_line, "study", str(study), "--out", str(out))
    while not (out / "cells.jsonl").exists() and child.is_alive():
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    assert 1 <= len(read_cells(out / "cells.jsonl")) < 4
    lqm.study(study, out=out, show_progress=False)
    assert told(out) == told(tmp_path / "whole")


def test_a_failed_cell_is_listed_with_its_sentence_and_the_others_go_on(tmp_path, type_in):
    more = '[[grid]]\nsource = "gone.npz"\nmethod = "cat"\nbudget = 4\n'
    study, out = write(tmp_path, more=more), tmp_path / "out"
    code, _, messages = type_in("study", study, "--out", out, "--only", "seed=0")
    assert code == 1
    assert "gone.npz" in messages
    assert {line.cell: line.state for line in read_cells(out / "cells.jsonl")}[
        "gone-cat-4-seed-0"
    ] == "failed"
    assert sum(line.state == "done" for line in read_cells(out / "cells.jsonl")) == 2


def test_several_processes_find_what_one_finds(tmp_path):
    study = write(tmp_path)
    lqm.study(study, out=tmp_path / "one", show_progress=False)
    lqm.study(study, out=tmp_path / "two", jobs=2, show_progress=False)
    assert told(tmp_path / "two") == told(tmp_path / "one")


def test_cells_share_one_sketch_that_is_built_once(tmp_path):
    study = tmp_path / "sketched.toml"
    study.write_text(
        '[[grid]]\nsource = "synthetic:nodes=200,classes=3"\nmethod = "cat"\ndistance = ["mean", "lqm"]\n'
        'budget = 6\nseed = "0..1"\nprotocol = "graph-quick"\nsettings = { steps = 4 }\n'
        "sketch = { encoders = 3, max_per_class = 4, settings = { width = 8 } }\n"
    )
    found = lqm.study(study, out=tmp_path / "out", show_progress=False)
    assert not found.failed
    (bank,) = (tmp_path / "out" / "banks").iterdir()
    assert len(list(bank.glob("encoder-*"))) == 3
    assert len({line.seconds["bank"] for line in found.lines}) == 1
    for line in found.lines:
        assert [words.split()[1] for words in line.command.split(" && ")] == [
            "sketch",
            "condense",
            "evaluate",
        ]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("lqm", "lqn"), "distance"),
        (('"cat"', '"cot"'), "method"),
        (("width = 8", "widths = 8"), "widths"),
        (("budget = 4", "budgets = 4"), "budgets"),
        (("steps = 3", "steps = 'x'"), "steps"),
    ],
)
def test_what_there_is_not_is_refused_before_anything_starts(tmp_path, change, named):
    study = write(tmp_path)
    study.write_text(study.read_text().replace(*change))
    with pytest.raises(lqm.LqmError, match=named):
        lqm.study(study, out=tmp_path / "out", show_progress=False)
    assert not (tmp_path / "out").exists()


def test_a_folder_is_of_one_process_at_a_time(tmp_path):
    from lqm.api.study_run import in_use

    with in_use(tmp_path), pytest.raises(lqm.LqmError, match="in use"):
        lqm.study(write(tmp_path), out=tmp_path, show_progress=False)


def test_an_estimate_runs_nothing_and_tells_time_memory_and_disk(tmp_path, type_in):
    study, out = write(tmp_path), tmp_path / "out"
    code, told, _ = type_in("study", study, "--out", out, "--only", "distance=lqm", "--estimate")
    assert code == 0
    assert "2 of 2 cells" in told
    assert not out.exists()


@pytest.mark.slow
def test_an_estimate_counts_what_is_missing_of_a_bank(tmp_path):
    path, place = tmp_path / "sets.toml", Place(tmp_path / "out")
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "dm"\nper_class = 1\nprotocol = "quick-200"\nrepeats = 1\n'
        "sketch = { encoders = 4, real_batch = 16 }\nsettings = { steps = 5 }\n"
    )
    cells = load_study(path).cells
    bank = place.folder / "banks" / cells[0].bank.name
    bank.mkdir(parents=True)
    (bank / "encoder-000000.safetensors").touch()
    found = estimate(cells, place, shown=False)
    assert [(each.bank, each.count) for each in found] == [(True, 0.75), (False, 1)]
    for number in range(1, 4):
        (bank / f"encoder-{number:06}.safetensors").touch()
    (left,) = estimate(cells, place, shown=False)
    assert not left.bank
    assert left.each.seconds > 0


def test_an_estimate_counts_the_networks_of_baselines(tmp_path, monkeypatch):
    monkeypatch.setattr("lqm.api.costs._training_seconds", lambda train, whole: 1e6)
    path = tmp_path / "sets.toml"
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "random"\nper_class = 1\nrepeats = 3\n'
        'baselines = ["random", "full"]\n'
    )
    (cell,) = load_study(path).cells
    cost = measure(Probe(cell, Place(tmp_path / "out")))
    assert round(cost.seconds / 1e6) == 3 + 3 + 1  # the protocol trains one network on all images


def test_an_estimate_is_of_the_precision_that_is_asked_for(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "lqm.api.study_probe.seconds_of_evaluating", lambda *args, **how: asked.append(how) or 0.0
    )
    path = tmp_path / "plain.toml"
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "dm"\nper_class = 1\nprecision = "fp32"\ncompile = "off"\n'
        'settings = { steps = 2, network = "convnet:width=8" }\n'
    )
    (cell,) = load_study(path).cells
    measure(Probe(cell, Place(tmp_path / "out")))
    assert asked == [{"precision": "fp32", "compile": "off"}]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (path := tmp_path / "file").touch()
    with pytest.raises(lqm.LqmError, match="is a file; give the folder of a study"):
        lqm.study(write(tmp_path), out=path, show_progress=False)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (-9, "ended by SIGKILL; perhaps memory was short"),
        (-15, "ended by SIGTERM"),
        (1, "ended with code 1"),
    ],
)
def test_memory_is_suspected_only_where_a_process_was_killed(code, said):
    assert _ended(code) == said


def test_the_command_of_a_set_condenses_and_evaluates(tmp_path):
    path = tmp_path / "sets.toml"
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "dm"\nper_class = 2\nseed = 3\nprotocol = "quick-200"\n'
        'networks = ["mlp"]\nsettings = { steps = 5 }\n'
    )
    (cell,) = load_study(path).cells
    assert command_of(cell) == (
        "lqm condense digits --method dm --per-class 2 --set steps=5 --seed 3 --out RUN && "
        "lqm evaluate RUN --protocol quick-200 --networks mlp --seed 3"
    )


def test_the_protocol_of_a_line_names_the_network_that_evaluated(tmp_path):
    path = tmp_path / "narrow.toml"
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "random"\nper_class = 1\nprotocol = "quick-200"\n'
        'networks = ["mlp:width=8"]\nrepeats = 1\n'
    )
    (line,) = lqm.study(path, out=tmp_path / "out", show_progress=False).lines
    assert "width 8" in line.protocol


def test_a_cell_is_evaluated_in_the_precision_that_it_is_condensed_in(tmp_path):
    if problem := try_bf16("cpu").problem:
        pytest.skip(problem)
    path = tmp_path / "rounded.toml"
    path.write_text(
        '[[grid]]\nsource = "digits"\nmethod = "dm"\nper_class = 1\nprotocol = "quick-200"\n'
        'networks = ["convnet:width=8"]\nrepeats = 2\nprecision = "bf16"\n'
        'settings = { steps = 2, network = "convnet:width=8" }\n'
    )
    (line,) = lqm.study(path, out=tmp_path / "out", show_progress=False).lines
    assert facts([line])["protocol"].endswith(", in bf16")
    condensing, evaluating = line.command.split(" && ")
    assert "--precision bf16" in condensing
    assert "--precision bf16" in evaluating


def test_a_sketch_too_coarse_for_a_mosaic_is_refused_before_it_is_made(tmp_path):
    path = tmp_path / "coarse.toml"
    path.write_text(
        '[[grid]]\nsource = "mnist"\nmethod = "idm"\nper_class = 10\n'
        "sketch = { encoders = 2, max_per_class = 10 }\n"
    )
    with pytest.raises(lqm.LqmError, match="max_per_class = 40"):
        lqm.study(path, out=tmp_path / "out", show_progress=False)


def test_a_folder_of_data_is_for_the_sources_that_are_read_by_name(tmp_path):
    cells = load_study(write(tmp_path)).cells
    place = Place(tmp_path, data_dir="data")
    assert request_of(cells[0], place).data_dir is None
    for source, found in {"digits-knn": None, "cora": "data", "own/cora.npz": None, "cora.npz": None}.items():
        assert place.data_dir_of(source) == found


@pytest.mark.parametrize(
    "line",
    [
        "out = 'x'",
        "networks = 'nosuchnet'",
        "networks = 3",
        "baselines = ['nosuch']",
        "protocol = ['quick-200']",
        "sketch = { out = 'x' }",
        "sketch = { encoders = 'x' }",
    ],
)
def test_what_a_study_cant_ask_of_a_cell_is_refused_before_any_starts(tmp_path, line):
    path = tmp_path / "mini.toml"
    path.write_text(f"[[grid]]\nsource = 'digits'\nmethod = 'dm'\nsettings = {{ steps = 1 }}\n{line}\n")
    with pytest.raises(ConfigError):
        lqm.study(path, out=tmp_path / "out", show_progress=False)
    assert not (tmp_path / "out").exists()


def test_a_worker_ends_when_its_study_was_gone_before_it_began():
    command = [sys.executable, "-m", "lqm.executors.worker", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        assert worker.wait(timeout=60) == -signal.SIGTERM


def test_a_pair_shares_its_init_and_the_networks_that_evaluate_it(tmp_path):
    """At a rate of next to nothing a set stays what it was at first, so both sides of a pair end alike."""
    path = tmp_path / "pairs.toml"
    path.write_text(
        '[[grid]]\nsource = "synthetic:nodes=200,classes=3"\nmethod = "cat"\ndistance = ["mean", "lqm"]\n'
        'budget = 6\nseed = "0..1"\nprotocol = "graph-quick"\n'
        "settings = { steps = 4, width = 8, learning_rate = 1e-30 }\n"
    )
    found = lqm.study(path, out=tmp_path / "out", show_progress=False).lines
    for mean, quantiles in zip(found[::2], found[1::2], strict=True):
        assert (mean.seed, mean.scores) == (quantiles.seed, quantiles.scores)
    assert found[0].scores != found[2].scores


def test_seconds_of_an_evaluation_are_those_of_training_even_if_that_was_before(tmp_path):
    path = tmp_path / "nodes.toml"
    path.write_text(
        '[[grid]]\nsource = "synthetic:nodes=200,classes=3"\nmethod = "cat"\nbudget = 6\n'
        'protocol = "graph-quick"\nsettings = { steps = 2, width = 8 }\n'
    )
    first, again = (
        lqm.study(path, out=tmp_path / out, show_progress=False).lines[0] for out in ("first", "again")
    )
    assert first.seconds["evaluate"] > 0
    assert again.seconds["evaluate"] == first.seconds["evaluate"]


def test_an_estimate_for_no_process_at_all_is_refused(tmp_path, type_in):
    code, _, messages = type_in(
        "study", write(tmp_path), "--out", tmp_path / "out", "--estimate", "--jobs", "0"
    )
    assert code == 1
    assert "jobs" in messages


def test_lines_follow_what_the_file_compares_and_publishes_without_another_run(tmp_path):
    study, out = write(tmp_path), tmp_path / "out"
    before = lqm.study(study, out=out, only=["seed=0"], show_progress=False).lines
    assert {line.study.against for line in before} == {"mean"}
    study.write_text(f"against = 'lqm'\npaper_scores = [{{ accuracy = 50.0 }}]\n{study.read_text()}")
    after = lqm.study(study, out=out, only=["seed=0"], show_progress=False).lines
    assert {(line.study.against, line.paper) for line in after} == {("lqm", 50.0)}
    assert read_cells(out / "cells.jsonl") == [*after]
    assert [line.seconds for line in after] == [line.seconds for line in before]


def test_a_bank_that_breaks_costs_its_own_cells_alone(tmp_path, monkeypatch):
    def broken(request):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr("lqm.api.study_banks.make_sketch", broken)
    more = '[[grid]]\nsource = "synthetic:nodes=200"\nmethod = "cat"\nbudget = 4\nsketch = { encoders = 2 }\n'
    study = write(tmp_path, more=more)
    found = lqm.study(study, out=tmp_path / "out", only=["seed=0"], show_progress=False)
    assert ["no such kernel" in line.sentence for line in found.failed] == [True]
    assert len(found.lines) == 3


def test_two_scales_do_not_share_a_folder(tmp_path):
    study = tmp_path / "scales.toml"
    text = STREAM.replace("STEPS", "3").replace("0..1", "0")
    study.write_text(text.replace("[[grid]]", "[[small.grid]]") + text.replace("[[grid]]", "[[large.grid]]"))
    lqm.study(study, out=tmp_path / "out", scale="small", show_progress=False)
    with pytest.raises(lqm.LqmError, match=r"small.*large"):
        lqm.study(study, out=tmp_path / "out", scale="large", show_progress=False)


def test_a_cell_that_is_asked_for_something_else_runs_in_another_folder(tmp_path):
    lqm.study(write(tmp_path, steps=3), out=tmp_path / "out", only=["seed=0"], show_progress=False)
    longer = lqm.study(write(tmp_path, steps=4), out=tmp_path / "out", only=["seed=0"], show_progress=False)
    assert not longer.failed
    assert {line.steps for line in longer.lines} == {4}


def test_a_stream_has_no_protocol(tmp_path):
    study = write(tmp_path)
    study.write_text(study.read_text() + 'protocol = "cat-500"\n')
    with pytest.raises(lqm.LqmError, match="protocol"):
        lqm.study(study, out=tmp_path / "out", show_progress=False)
