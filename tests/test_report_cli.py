"""`lqm report`: what the user types, and one sentence for each thing that can't be done."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lqm
from tests.graphs.continual.making import LEARNING, run, small_graph
from tests.report.making import chosen, read_page, tiny_source


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Sets of digits, a set of something else, and a stream; read and not changed."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        chosen("digits", folder / f"digits-{seed}", seed=seed)
    chosen(tiny_source(), folder / "mine")
    run(small_graph(), out=folder / "stream", settings=LEARNING, method="random")
    return folder


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_page_is_written_and_its_place_and_size_are_said(type_in, runs, tmp_path):
    out = tmp_path / "new" / "page.html"
    code, printed, error = type_in("report", runs / "digits-0", runs / "digits-1", "--out", out)
    assert (code, error) == (0, "")
    size = out.stat().st_size / 1e6
    assert " ".join(printed.split()) == f"wrote {out} ({size:.1f} MB); open it in a browser"
    assert read_page(out).data["labels"] == ["random, seed 0", "random, seed 1"]


def test_streams_have_pages_too(type_in, runs, tmp_path):
    code, printed, _ = type_in("report", runs / "stream", "--out", tmp_path / "page.html")
    assert code == 0
    assert printed.startswith("wrote ")
    assert len(read_page(tmp_path / "page.html").data["matrices"]) == 1


def test_another_process_writes_the_same_bytes(runs, tmp_path):
    both, here, there = (
        [runs / "digits-0", runs / "digits-1"],
        tmp_path / "here.html",
        tmp_path / "there.html",
    )
    lqm.write_report(both, here)
    words = ["report", *map(str, both), "--out", str(there)]
    done = subprocess.run(
        [sys.executable, "-c", "from lqm.cli.main import main; main()", *words],
        env=os.environ | {"PYTHONHASHSEED": "7", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    one, two = (re.sub(rb" on \d{4}-\d\d-\d\d\.", b"", page.read_bytes()) for page in (here, there))
    assert one == two


def test_a_set_made_in_python_has_a_page_and_one_line_says_what_it_lacks(type_in, runs, tmp_path):
    code, printed, error = type_in("report", runs / "mine", "--out", tmp_path / "page.html")
    assert code == 0
    assert printed.startswith("wrote ")
    assert re.fullmatch(
        r"lqm: this set was condensed from 'mine', which was made in Python; [^\n]*; "
        r"the page is made without the real data\n",
        error,
    )
    assert read_page(tmp_path / "page.html").data["explorer"] is None


def spoiled(runs, tmp_path):
    folder = shutil.copytree(runs / "digits-0", tmp_path / "spoiled")
    with (folder / "manifest.json").open("a") as file:
        file.write(" ")
    return folder


def unfinished(runs, tmp_path):
    folder = shutil.copytree(runs / "digits-0", tmp_path / "unfinished")
    (folder / "manifest.json").unlink()
    return folder


REFUSED = {
    "no runs": (lambda runs, own: (), "there is nothing to report on; name one or more runs"),
    "no such folder": (
        lambda runs, own: (own / "nothing",),
        r"there is no folder \S+nothing; name a run or a condensed set",
    ),
    "a file": (
        lambda runs, own: (runs / "digits-0" / "manifest.json",),
        r"\S+manifest\.json holds no condensed set .*; name a folder that .*",
    ),
    "other data": (
        lambda runs, own: (runs / "digits-0", runs / "mine"),
        r"\S+mine and \S+digits-0 were not condensed from the same data \('mine', not 'digits'\); "
        "give a report to each",
    ),
    "a stream and a set": (
        lambda runs, own: (runs / "digits-0", runs / "stream"),
        r"\S+stream is a stream of tasks and \S+digits-0 is not; give a report to each kind",
    ),
    "a damaged manifest": (
        lambda runs, own: (runs / "digits-1", spoiled(runs, own)),
        r"\S+manifest\.json is damaged or was edited: it does not fit its own seal; restore it .*",
    ),
    "an unfinished run": (
        lambda runs, own: (unfinished(runs, own),),
        r"\S+unfinished holds a run that is not finished; give its command again",
    ),
    "a memory": (
        lambda runs, own: (runs / "stream" / "repeat-0" / "memory" / "task-00",),
        r"this set is the memory of task 0 of a stream, which `lqm continual` evaluates; name a set .*",
    ),
    "another source": (
        lambda runs, own: (runs / "mine", "--source", "digits"),
        r"'digits' is not what this set was condensed from \(its .* differ\); name the same version .*",
    ),
    "a source that is none": (
        lambda runs, own: (runs / "digits-0", "--source", own / "nothing.npz"),
        r"what the set was condensed from is not found there: .*nothing\.npz.*",
    ),
    "a graph as the source": (
        lambda runs, own: (runs / "digits-0", "--source", "digits-knn"),
        r"what the set was condensed from is not found there: .*digits-knn.*",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_mistake_is_one_sentence_and_nothing_is_written(type_in, runs, tmp_path, what):
    words, sentence = REFUSED[what]
    words = words(runs, tmp_path)
    before = [*files(runs), *files(tmp_path)]
    code, printed, error = type_in("report", *words, "--out", tmp_path / "page.html")
    assert (code, printed) == (1, "")
    assert error.count("\n") == 1
    assert re.fullmatch(f"lqm: {sentence}\n", error), error
    assert [*files(runs), *files(tmp_path)] == before


def test_a_place_that_is_taken_is_refused_and_left(type_in, runs, tmp_path):
    code, _, error = type_in("report", runs / "digits-0", "--out", tmp_path)
    assert code == 1
    assert error == f"lqm: {tmp_path} is a folder; name a file such as {tmp_path / 'report.html'}\n"
    mine = tmp_path / "thesis.html"
    mine.write_text("<!doctype html><p>mine")
    code, _, error = type_in("report", runs / "digits-0", "--out", mine)
    assert code == 1
    assert error == (
        f"lqm: {mine} is there already and is no report of lqm; choose another name with --out\n"
    )
    assert mine.read_text() == "<!doctype html><p>mine"
    assert files(tmp_path) == [mine]


def test_an_older_report_is_replaced(type_in, runs, tmp_path):
    out = tmp_path / "page.html"
    for number in (0, 1):
        assert type_in("report", runs / f"digits-{number}", "--out", out)[0] == 0
        assert f"digits-{number}" in read_page(out).words
    assert files(tmp_path) == [out]


def test_a_place_that_cant_be_written_is_one_sentence(type_in, runs, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file" / "page.html", tmp_path / ("long" * 100)):
        code, printed, error = type_in("report", runs / "digits-0", "--out", out)
        assert (code, printed) == (1, "")
        assert error.count("\n") == 1
        assert "Traceback" not in error
        assert str(out) in error
    assert files(tmp_path) == [tmp_path / "file"]


def test_a_disk_that_is_full_leaves_the_older_report(type_in, runs, tmp_path, monkeypatch):
    out = tmp_path / "page.html"
    assert type_in("report", runs / "digits-0", "--out", out)[0] == 0
    before = out.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, error = type_in("report", runs / "digits-1", "--out", out)
    assert code == 1
    assert "No space left on device" in error
    assert out.read_bytes() == before
    assert files(tmp_path) == [out]


def test_help_names_the_options(type_in):
    code, printed, _ = type_in("report", "--help")
    assert code == 0
    for word in ("RUN ...", "--out", "--source", "--data-dir", "Example: lqm report"):
        assert word in printed


def test_the_public_name_is_the_page_writer(runs, tmp_path):
    path = lqm.write_report(str(runs / "digits-0"), str(tmp_path / "page.html"))
    assert path == Path(tmp_path / "page.html")
    assert json.loads((runs / "digits-0" / "manifest.json").read_text())["method"] == "random"


@pytest.mark.parametrize("command", ["report", "compare"])
def test_a_pattern_that_names_other_files_too_names_the_runs(type_in, runs, tmp_path, command):
    (tmp_path / "figure.png").write_bytes(b"")
    for name in ("digits-0", "digits-1"):
        shutil.copytree(runs / name, tmp_path / name)
    lqm.write_report([tmp_path / "digits-0", tmp_path / "digits-1"])
    assert (tmp_path / "report.html").exists()
    code, _, error = type_in(command, *sorted(tmp_path.iterdir()))
    assert (code, error) == (0, "")


def test_compare_says_which_sets_are_copies(type_in, runs, tmp_path):
    shutil.copytree(runs / "digits-0", tmp_path / "copy")
    code, printed, _ = type_in("compare", runs / "digits-0", runs / "digits-1", tmp_path / "copy")
    assert code == 0
    copies = f"{runs / 'digits-0'}, {tmp_path / 'copy'}"
    assert printed.endswith(f"equal byte for byte, and counted once: {copies}\n")
    assert "counted once" not in type_in("compare", runs / "digits-0", runs / "digits-1")[1]
