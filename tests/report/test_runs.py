"""What is listed of runs, in each state that a folder can be in."""

import json
import os
import re
import shutil
import time

import pytest
from rich.console import Console

import lqm
from lqm.api.runs import find_runs
from lqm.engine import RunFolder
from lqm.report.run_table import runs_table
from lqm.utils.errors import ArtifactError, StoppedError

SETTINGS = {"steps": 3, "network": "convnet:width=4", "real_batch": 8}


def snapshot(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def only(folder):
    (run,) = find_runs(folder)
    return run


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A finished run; copied, not changed."""
    folder = tmp_path_factory.mktemp("made") / "run"
    lqm.condense("digits", per_class=2, settings=SETTINGS, out=folder, show_progress=False)
    return folder


@pytest.fixture
def run(made, tmp_path):
    return shutil.copytree(made, tmp_path / "runs" / "digits")


def evaluated(folder, *records):
    lines = "".join(json.dumps(record) + "\n" for record in records)
    (folder / "evaluations.jsonl").write_text(lines + '{"step": 9, "accu')


def test_a_finished_run_is_done(run):
    found = only(run.parent)
    assert (found.folder, found.state) == (run, "done")
    assert (found.method, found.distance, found.source) == ("dm", "lqm", "digits")
    assert (found.size, found.steps, found.accuracy) == ("2", "3", None)
    assert only(run) == found, "the folder may be the run itself"


def test_a_run_that_was_stopped_tells_how_far_it_came(run):
    (run / "manifest.json").unlink()
    assert only(run.parent).steps == "3/3", "all steps are made, but the set is not written yet"
    record = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(record | {"steps": 1200}))
    found = only(run.parent)
    assert (found.state, found.steps, found.size) == ("stopped", "3/1,200", "2")
    (run / "metrics.jsonl").unlink()
    assert only(run.parent).steps == "0/1,200"
    del record["steps"]
    (run / "run.json").write_text(json.dumps(record))
    assert only(run.parent).steps == "0", "runs of an older version did not note how many they were to make"


def test_a_finished_run_that_is_taken_further_is_no_longer_done(run):
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3, "loss": 1.0}\n')
    assert only(run.parent).state == "done", "the step is logged but not saved, and will be made again"
    (run / "checkpoints" / f"step-000000004.{'0' * 32}.safetensors").touch()
    assert only(run.parent).state == "stopped"
    assert only(run.parent).steps == "4"


def test_a_run_whose_folder_is_held_is_running_and_looking_changes_nothing(run, tmp_path):
    record = json.loads((run / "run.json").read_text())
    before = snapshot(run)
    with RunFolder(run, record["config"], record["environment"]):
        assert only(run.parent).state == "running"
        (run / "run.json").write_text("{")
        assert only(run.parent).state == "running"
    (run / "run.json").write_bytes(before[run / "run.json"])
    (run / ".lock").unlink(missing_ok=True)
    assert only(run.parent).state == "done"
    assert not (run / ".lock").exists()
    with RunFolder(run, record["config"], record["environment"]):
        pass


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("run.json", b"{", "run.json is damaged"),
        ("run.json", b"[1]", "run.json is damaged"),
        ("run.json", b'{"config": {"method": "dm"}}', "run.json is damaged"),
        ("manifest.json", b"{}", "manifest.json is damaged or was edited"),
        ("data", b"spoiled", "is damaged: its SHA-256"),
        ("data", None, "can't be read"),
    ],
)
def test_what_is_damaged_is_broken_and_says_why(run, name, content, problem):
    path = next(run.glob("data-*")) if name == "data" else run / name
    path.unlink() if content is None else path.write_bytes(content)
    found = only(run.parent)
    assert found.state == "broken"
    assert problem in found.problem
    assert str(run) in found.problem


def test_the_score_by_the_sets_own_protocol_counts_else_the_first_else_the_last_evaluation(run):
    evaluated(run, {"step": 2, "accuracies": [0.4, 0.3]}, {"step": 3, "accuracies": [0.5, 0.7]})
    assert only(run.parent).accuracy.each == (0.5, 0.7)
    condensed = lqm.load(run)
    own = condensed.manifest["evaluation"]
    match = {"cramer_von_mises": 0.25, "extremes": 0.0}
    for protocol, accuracies, shown in (
        ({}, (0.1, 0.2), (0.1, 0.2)),
        ({"epochs": 3}, (0.4, 0.5), (0.1, 0.2)),
        (own, (0.8, 0.9), (0.8, 0.9)),
    ):
        found = {"records": 20, "accuracies": accuracies, "before": match, "after": match}
        condensed = condensed.with_score({"protocol": protocol, "seed": 0, **found})
        assert only(run.parent).accuracy.each == shown


def test_a_saved_set_without_its_run_is_done(made, tmp_path):
    lqm.load(made).save(tmp_path / "sets" / "small")
    found = only(tmp_path / "sets")
    assert (found.state, found.method, found.size, found.steps) == ("done", "dm", "2", "3")
    (tmp_path / "sets" / "small" / "manifest.json").write_bytes(b'{"seal": 1}')
    found = only(tmp_path / "sets")
    assert (found.state, found.method) == ("broken", "-")
    assert "does not fit its own seal" in found.problem


def test_a_manifest_of_something_else_is_no_run(run):
    (run.parent / "app").mkdir()
    (run.parent / "app" / "manifest.json").write_text('{"name": "a web page"}')
    assert only(run.parent).folder == run


def test_what_belongs_to_a_run_is_not_listed_and_the_newest_comes_first(run, made):
    shutil.copytree(made, run / "start")
    deep = shutil.copytree(made, run.parent / "more" / "deep" / "run")
    shutil.copytree(made, run.parent / ".cache" / "run")
    hour_ago = time.time() - 3600
    for path in deep.rglob("*"):
        os.utime(path, (hour_ago, hour_ago))
    os.utime(deep, (hour_ago, hour_ago))
    (run / "metrics.jsonl").touch()
    found = find_runs(run.parent)
    assert [one.folder for one in found] == [run, deep]
    assert found[1].changed == pytest.approx(hour_ago, abs=1)


def test_a_sketch_is_listed_as_such(tmp_path):
    out = tmp_path / "sketch"
    lqm.sketch("digits", out=out, encoders=2, max_per_class=2, network="convnet:width=4", show_progress=False)
    found = only(tmp_path)
    assert (found.state, found.method, found.distance) == ("done", "sketch for dm", "-")
    assert (found.source, found.size, found.steps) == ("digits", "≤ 2", "2")
    shard = next(out.glob("encoder-*"))
    shard.write_bytes(b"")
    assert only(tmp_path).state == "broken"
    assert shard.name in only(tmp_path).problem
    for path in out.glob("encoder-*"):
        path.unlink()
    assert only(tmp_path).state == "stopped"


def test_a_stream_of_tasks_is_listed_with_its_average_accuracy(tmp_path):
    out = tmp_path / "stream"
    settings = {"epochs": 2}
    found = lqm.continual(
        "digits-knn",
        method="random",
        budget=5,
        classes_per_task=5,
        settings=settings,
        out=out,
        show_progress=False,
        repeats=1,
    )
    listed = only(tmp_path)
    assert (listed.state, listed.method, listed.size) == ("done", "stream by random", "5")
    assert listed.accuracy == found.average_accuracy
    (out / "result.json").write_text("{}")
    assert only(tmp_path).state == "broken"
    assert "give its `lqm continual` command again" in only(tmp_path).problem
    (out / "result.json").unlink()
    assert only(tmp_path).state == "stopped"


def test_a_real_run_that_is_stopped_goes_from_stopped_to_done(tmp_path, monkeypatch):
    import signal

    from lqm.methods.condensation import Condensation

    step = Condensation.step

    def stop(self, number):
        if number == 1:
            os.kill(os.getpid(), signal.SIGTERM)
        return step(self, number)

    def condense():
        lqm.condense("digits", per_class=2, settings=SETTINGS, out=tmp_path / "run", show_progress=False)

    with monkeypatch.context() as patch:
        patch.setattr(Condensation, "step", stop)
        with pytest.raises(StoppedError):
            condense()
    assert (only(tmp_path).state, only(tmp_path).steps) == ("stopped", "2/3")
    condense()
    assert (only(tmp_path).state, only(tmp_path).steps) == ("done", "3")


def shown(folder, width, *, terminal=True):
    console = Console(width=width, force_terminal=terminal, color_system=None)
    table, needed = runs_table(find_runs(folder), console)
    wide = Console(width=needed, color_system=None, force_terminal=False)
    with wide.capture() as capture:
        wide.print(table)
    return capture.get()


def test_a_table_fits_the_terminal_and_never_cuts_a_folder_short(run, made, monkeypatch):
    monkeypatch.chdir(run.parent.parent)
    evaluated(run, {"step": 3, "accuracies": [0.941, 0.958, 0.975]})
    here = run.parent.relative_to(run.parent.parent)
    wide = shown(here, 200)
    assert re.search(r"runs/digits +done +dm +lqm +digits +2 +3 +95\.8 ± 1\.7 +\d+ s", wide)
    narrow = shown(here, 80)
    assert max(map(len, narrow.splitlines())) <= 80
    for part in ("runs/digits", "done", "dm", "lqm", "digits", "95.8 ± 1.7"):
        assert part in narrow
    long = shutil.copytree(made, run.parent / ("a-long-name-" * 8))
    assert str(long.relative_to(run.parent.parent)) in shown(here, 80)
    assert "…" not in shown(here, 80)
    assert "distance" in shown(here, 80, terminal=False), "what is not for a terminal is as wide as it needs"


def test_no_folder_and_no_runs_are_one_sentence(tmp_path):
    with pytest.raises(ArtifactError, match=r"there is no folder .*nothing; name one that holds runs"):
        find_runs(tmp_path / "nothing")
    with pytest.raises(ArtifactError, match=r"there are no runs in .*; name a folder that `lqm condense`"):
        find_runs(tmp_path)


@pytest.mark.parametrize("name", ["a[", "[red]x[|red]", "[bold]", ":smile:"])
def test_folders_are_listed_by_their_names_whatever_these_look_like(made, tmp_path, name):
    shutil.copytree(made, tmp_path / name)
    assert name in shown(tmp_path, 200)
