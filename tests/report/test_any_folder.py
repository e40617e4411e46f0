"""Whatever lies beside good runs: they are listed, it is broken, and no command ends in a traceback."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

import lqm
from lqm.api.runs import find_runs
from lqm.utils.errors import ArtifactError
from tests.condensed.forging import forge
from tests.refusing import assert_refused

OLD = Path(__file__).parents[1] / "golden" / "old"
GOOD = json.loads((OLD / "dm3" / "run.json").read_text())


def record(**changes):
    return json.dumps({"config": GOOD["config"] | changes, "environment": {}})


# What `run.json` may say instead of what it should.
RECORDS = {
    "nothing": "",
    "no-text": "\x00\x01",
    "list": "[1, 2]",
    "text": '"run"',
    "deep": "[" * 100_000,
    "nested": '{"config": ' * 500 + "1" + "}" * 500,
    "config-list": '{"config": [], "environment": {}}',
    "environment": '{"config": {}, "environment": [1]}',
    "method": record(method=3),
    "distance": record(distance="lqm"),
    "source": record(source="digits"),
    "source-name": record(source={"name": {"a": 1}}),
    "settings": record(settings=[1]),
    "sketched": json.dumps({"config": {"sketched": [1]}, "environment": {}}),
    "sketched-what": json.dumps({"config": {"sketched": {"max_per_class": "x"}}, "environment": {}}),
    "experts": json.dumps({"config": {"experts": 3}, "environment": {}}),
    "stream": record(stream="x"),
    "steps": json.dumps({"config": GOOD["config"], "environment": {}, "steps": "many"}),
    "infinite": '{"config": {"per_class": Infinity}, "environment": {}}',
    "large": '{"config": {"seed": ' + "9" * 5000 + '}, "environment": {}}',
}
LOGS = {
    "metrics": '{"step": "many", "loss": 1}\n',
    "metrics-list": '{"step": [1], "loss": 1}\n',
    "metrics-deep": '{"step": 1, "loss": ' + "[" * 50_000 + "]" * 50_000 + "}\n",
    "evaluations": '{"step": 1, "accuracies": "high"}\n',
    "evaluations-list": '{"step": 1, "accuracies": [[1]]}\n',
    "evaluations-range": '{"step": 1, "accuracies": [1e400]}\n',
}


@pytest.fixture
def runs(tmp_path):
    """A folder of a good run and of everything else."""
    folder = tmp_path / "runs"
    shutil.copytree(OLD / "dm3", folder / "good")
    for name, text in RECORDS.items():
        (folder / name).mkdir()
        (folder / name / "run.json").write_text(text)
    for name, text in LOGS.items():
        shutil.copytree(OLD / "dm3", folder / name)
        (folder / name / f"{name.partition('-')[0]}.jsonl").write_text(text)
    for name in ("pipe", "loop", "folder"):
        (folder / name).mkdir()
    os.mkfifo(folder / "pipe" / "run.json")
    (folder / "loop" / "run.json").symlink_to("run.json")
    (folder / "loop" / "below").symlink_to(folder)
    (folder / "folder" / "run.json").mkdir()
    shutil.copytree(OLD / "dm3", folder / "pipes")
    for name in ("metrics.jsonl", "evaluations.jsonl", ".lock"):
        (folder / "pipes" / name).unlink(missing_ok=True)
        os.mkfifo(folder / "pipes" / name)
    shutil.copytree(OLD / "dm3", folder / os.fsdecode(b"caf\xe9 \x1b[31m"))
    forge(folder / "forged", {"class_names": [], "steps": "x"})
    forge(folder / "bare", {"class_names": ["a", "b"]})
    shutil.copytree(OLD / "stream3", folder / "streamed")
    (folder / "streamed" / "result.json").write_text('{"average_accuracy": {"each": ["a"]}}')
    (folder / "large").joinpath("run.json").write_text('{"config": "' + "x" * 3_000_000 + '"}')
    return folder


def test_every_good_run_is_listed_and_the_others_are_broken(runs):
    found = {run.folder.name: run for run in find_runs(runs)}
    assert found["good"].state == "done"
    assert found["good"].method == "dm"
    assert {name for name in RECORDS if found[name].state != "broken"} == set()
    assert {found[name].state for name in ("pipe", "loop", "forged", "streamed")} == {"broken"}
    for run in found.values():
        assert (run.state == "broken") == bool(run.problem)
        assert "\n" not in run.problem


def test_the_command_shows_them_and_no_raw_escape(runs, type_in):
    code, printed, _ = type_in("runs", runs)
    assert code == 0
    assert "good" in printed
    assert "caf" in printed
    assert "\x1b" not in printed


def test_a_folder_that_cant_be_looked_into_is_named(runs, monkeypatch, capsys):
    walk = os.walk

    def refuse(folder, onerror=None):
        if onerror:
            onerror(PermissionError(13, "Permission denied", str(runs / "shut")))
        return walk(folder)

    monkeypatch.setattr(os, "walk", refuse)
    assert find_runs(runs)
    assert "shut is left out" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["report", "compare", "figures", "evaluate", "audit", "export"])
def test_no_command_ends_in_a_traceback(runs, type_in, command, tmp_path):
    more = {"figures": ["--to", tmp_path / "to"], "export": ["--to", "npz", "--out", tmp_path / "out.npz"]}
    for folder in sorted(runs.iterdir()):
        if folder.name in ("good", "bare", "pipes") or folder.name.startswith("caf") or folder.name in LOGS:
            continue
        assert_refused(type_in(command, folder, *more.get(command, [])), "")
        with pytest.raises(lqm.LqmError):
            lqm.load(folder)


@pytest.mark.parametrize("name", ["evaluations", "evaluations-list"])
def test_a_log_of_other_types_is_named_by_its_step(runs, name, type_in):
    assert_refused(type_in("report", runs / name), r"step 1 in .*evaluations\.jsonl")


@pytest.mark.parametrize("name", ["metrics", "metrics-list"])
def test_a_line_without_a_step_is_named_and_left_out(runs, name, type_in):
    code, _, said = type_in("report", runs / name)
    assert code == 0
    assert re.search(r"metrics\.jsonl: 1 damaged line .*line 1", said)


@pytest.mark.parametrize("name", ["list", "config-list", "method", "settings", "deep", "pipe"])
def test_a_run_that_is_resumed_from_such_a_record_is_refused(runs, name):
    with pytest.raises(ArtifactError, match=r"run\.json"):
        lqm.condense("digits", out=runs / name, per_class=1, show_progress=False)


@pytest.mark.parametrize("name", ["sketched", "sketched-what", "experts", "list", "pipe"])
def test_a_bank_with_such_a_record_is_refused(runs, name):
    for option in ({"sketch": runs / name}, {"experts": runs / name, "method": "dance"}):
        with pytest.raises(ArtifactError):
            lqm.condense("digits", per_class=1, show_progress=False, **option)


@pytest.mark.parametrize("missing", ["source", "method", "max_per_class", "settings", "seed"])
def test_a_sketch_that_does_not_say_what_it_is_of_is_refused(tmp_path, missing):
    folder = tmp_path / "sketch"
    shutil.copytree(OLD / "sketch3", folder)
    stored = json.loads((folder / "run.json").read_text())
    del stored["config"]["sketched"][missing]
    (folder / "run.json").write_text(json.dumps(stored))
    with pytest.raises(ArtifactError, match=missing):
        lqm.condense("digits", per_class=1, show_progress=False, sketch=folder)


RESULT = json.loads((OLD / "stream3" / "result.json").read_text())


@pytest.mark.parametrize("command", ["report", "compare", "figures"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"config": 3},
        {"config": RESULT["config"] | {"stream": []}},
        {"config": RESULT["config"] | {"source": {"name": 3}}},
        {"config": RESULT["config"] | {"budget": [1]}},
        {"config": RESULT["config"] | {"settings": {"steps": "many"}}},
        {"tasks": "x"},
        {"tasks": [[1]]},
        {"matrices": [[[0.5, None], [0.5, 7]]]},
        {"matrices": [[[10**400, None], [0.5, 0.5]]]},
        {"seconds": {"memory": [], "learning": []}},
        {"seconds": {"memory": [1e300], "learning": [0]}},
        {"average_accuracy": {"each": [None]}},
        {"warnings": [3]},
        {"origin": {"source": 3}},
    ],
)
def test_a_stream_of_other_types_is_one_sentence(tmp_path, type_in, wrong, command):
    shutil.copytree(OLD / "stream3", tmp_path / "stream")
    (tmp_path / "stream" / "result.json").write_text(json.dumps(RESULT | wrong))
    if "matrices" in wrong and command == "compare":
        return
    more = ["--to", tmp_path / "to"] if command == "figures" else []
    assert_refused(type_in(command, tmp_path / "stream", *more), r"result\.json")
