"""Sketches and several runs at once on the command line: what is made, what is said, and what is refused."""

import json
import re
import shlex

import pytest

import lqm
from tests.refusing import assert_refused

NETWORK = ("--set", "network=convnet:width=8")
STEPS = ("--set", "steps=2")
TINY = (*NETWORK, *STEPS, "--real-batch", 16)


@pytest.fixture(scope="module")
def sketch(tmp_path_factory):
    """Two encoders of the digits, fine enough for 4 of a class."""
    settings, folder = {"network": "convnet:width=8"}, tmp_path_factory.mktemp("sketches") / "sketch"
    sizes = {"encoders": 2, "max_per_class": 4, "real_batch": 16}
    lqm.sketch("digits", out=folder, settings=settings, show_progress=False, **sizes)
    return folder


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def manifest(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_a_sketch_is_made_extended_and_used_for_several_budgets_and_seeds(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = ("sketch", "digits", "--max-per-class", 10, "--real-batch", 16, *NETWORK)
    code, printed, error = type_in(*command, "--encoders", 2)
    assert code == 0
    assert re.search("dm: .*network=convnet:width=8, real_batch=16", error)
    folder = tmp_path / "runs" / "digits-sketch"
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1000
    assert re.search(rf"2 encoders.*runs/digits-sketch.*{size:.1f} kB", printed)
    assert "lqm condense digits --per-class 1,10 --sketch runs/digits-sketch\n" in printed
    before = names(folder)
    code, printed, error = type_in(*command, "--encoders", 3)
    assert code == 0
    assert "2 of 3 encoders" in error
    assert re.search("3 encoders.*runs/digits-sketch", printed)
    assert len(set(names(folder)) - set(before)) == 1

    words = ("condense", "digits", "--sketch", "runs/digits-sketch", *STEPS)
    code, printed, error = type_in(*words, "--per-class", "1,10", "--seed", "0..1")
    assert code == 0
    out = tmp_path / "runs" / "digits-by-sketch"
    runs = ["1-seed-0", "1-seed-1", "10-seed-0", "10-seed-1"]
    assert names(out) == runs
    assert "1 of 4: runs/digits-by-sketch/10-seed-0\n" in error, "the largest comes first"
    assert "3 encoders" not in error, "2 steps need no more"
    for name in ("per class", "seed", "seconds", "folder", *runs):
        assert name in printed
    assert "4 runs in runs/digits-by-sketch\n" in printed
    for command in ("lqm evaluate runs/digits-by-sketch/1-seed-0", "lqm compare runs/digits-by-sketch/*"):
        assert command in printed.splitlines()[-1]
    found = manifest(out / "10-seed-1")
    assert (found["per_class"], found["seed"], found["method"]) == (10, 1, "dm")
    assert found["sketch"]["encoders"] == 3
    assert (out / "10-seed-1" / "images.png").exists()
    code, printed, _ = type_in("compare", *out.iterdir())
    assert code == 0
    assert printed.count("lqm") >= 2, "a row of each budget, with two runs each"


def test_a_stopped_command_goes_on_with_what_is_missing(type_in, tmp_path):
    words = ("condense", "digits", "--out", tmp_path / "runs", *TINY)
    assert type_in(*words, "--per-class", "2,1")[0] == 0
    code, printed, error = type_in(*words, "--per-class", "1..3", "--seed", "0")
    assert code == 0
    assert len(re.findall(r"/[12]-seed-0 .* 2 steps", error)) == 2, "finished already"
    assert f"3 of 3: {tmp_path / 'runs' / '3-seed-0'}" in error
    assert "3 runs" in printed
    assert names(tmp_path / "runs") == ["1-seed-0", "2-seed-0", "3-seed-0"]


def test_what_has_begun_with_other_settings_is_refused_before_new_work(type_in, tmp_path):
    words = ("condense", "digits", "--out", tmp_path / "runs", *TINY)
    assert type_in(*words, "--per-class", 1, "--seed", "0,2")[0] == 0
    typed = type_in(*words, "--per-class", "1,3", "--seed", "0,2", "--distance", "mean")
    assert_refused(typed, r"1-seed-0 .*distance\.name.*'lqm'.*'mean'", lines=2)
    assert names(tmp_path / "runs") == ["1-seed-0", "1-seed-2"]


def test_the_largest_budget_is_refused_before_any_work(type_in, tmp_path, sketch):
    words = ("condense", "digits", "--out", tmp_path / "runs", *STEPS)
    assert_refused(type_in(*words, "--per-class", "1,200"), r"\b140\b.*per_class.*\b200\b", lines=2)
    typed = type_in(*words, "--per-class", "1,5,2", "--sketch", sketch)
    assert_refused(typed, rf"{sketch} .*\b4\b.*\b5\b.*--max-per-class 5", lines=2)
    assert not (tmp_path / "runs").exists()


def test_one_run_and_several_do_not_share_a_folder(type_in, tmp_path, sketch):
    words = ("condense", "digits", "--sketch", sketch, "--per-class", 1, *STEPS)
    assert type_in(*words, "--out", tmp_path / "one", "--seed", "3..3")[0] == 0
    assert manifest(tmp_path / "one")["seed"] == 3
    typed = type_in(*words, "--out", tmp_path / "one", "--seed", "3,4")
    assert_refused(typed, f"{tmp_path / 'one'} .*another folder")


def test_a_graph_is_sketched_and_condensed_into_several_budgets(type_in, tmp_path):
    folder, out = tmp_path / "sketch", tmp_path / "runs"
    words = ("--split", "random", "--set", "width=16", "--max-per-class", 6)
    code, printed, _ = type_in("sketch", "digits-knn", "--encoders", 2, *words, "--out", folder)
    assert code == 0
    assert f"lqm condense digits-knn --split random --budget 10 --sketch {folder}\n" in printed
    words = ("condense", "digits-knn", "--sketch", folder, *STEPS, "--out", out)
    code, printed, _ = type_in(*words, "--split", "random", "--budget", "1%,2.5%,20")
    assert code == 0
    assert names(out) == ["1-percent-seed-0", "2.5-percent-seed-0", "20-seed-0"]
    assert [manifest(out / name)["budget"] for name in names(out)] == [18, 45, 20]
    assert "budget" in printed
    assert_refused(type_in(*words, "--budget", "2%,half"), "budget.*'half'.*40.*1%")


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        ("--seed 0..x", r"--seed 0\.\.x .*1,10,50.*1\.\.4"),
        ("--seed 4..0", r"--seed 4\.\.0 .*1,10,50"),
        ("--seed 0,,1", "--seed 0,,1 .*1,10,50"),
        ("--seed 0.5", r"--seed 0\.5 .*1,10,50"),
        ("--seed 0..1000000000", r"--seed 0\.\.1000000000 .*1,000"),
        ("--per-class 10,0", r"--per-class 10,0 .*from 1\b"),
        ("--per-class many", r"--per-class many .*from 1\b"),
        ("--per-class 1,10 --recipe dm-10", r"'dm-10'.*per_class.*\b1,10\b"),
        ("--compile sideways", "compile.*'sideways'.*auto, on, off"),
        ("--precision half", "precision.*'half'.*auto, fp32, bf16"),
        ("--sketch nowhere", "nowhere .*`lqm sketch`"),
        ("--sketch SKETCH --method idm", "SKETCH .*'dm'.*'idm'"),
        ("--sketch SKETCH --distance energy", "'energy'.*sketch"),
        ("--sketch SKETCH", r"SKETCH .*\b4\b.*\b10\b"),
        ("--sketch SKETCH --real-batch 8", r"SKETCH .*real_batch\b.*\b16\b.*\b8\b.*real_batch"),
        ("--sketch SKETCH --set network=mlp", "SKETCH .*network.*'convnet:width=8'.*'mlp'.*network"),
        ("--sketch SKETCH --augmentation flip", "SKETCH .*'digits'.*'digits'"),
    ],
)
def test_what_cant_be_condensed_is_one_sentence_before_any_work(type_in, tmp_path, sketch, words, mentioned):
    given = words.replace("SKETCH", str(sketch)).split()
    typed = type_in("condense", "digits", *given, "--out", tmp_path / "run")
    assert_refused(typed, mentioned.replace("SKETCH", str(sketch)))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        ("digit", "'digit'.*'digits'"),
        ("digits --encoders 0", r"encoders\b.*\b0\b.*at least 1"),
        ("digits --max-per-class 0", r"max_per_class\b.*\b0\b.*at least 1"),
        ("digits --method herding", "'herding'.*dm, datadam, idm"),
        ("digits --method cat", "'cat'.*graph.*'digits'"),
        ("digits --set steps=5", "'steps'.*'dm'.*network, real_batch"),
        ("digits --set widht=5", "'widht'"),
        ("digits --compile sideways", "compile.*'sideways'.*auto, on, off"),
        ("digits --precision half", "precision.*'half'.*auto, fp32, bf16"),
        ("digits-knn --precision fp32", "precision.*'digits-knn'.*graph"),
        ("digits-knn --method random", "'random'.*cat, puma"),
        ("digits-knn --set widht=5", "'widht'.*'width'"),
    ],
)
def test_what_cant_be_sketched_is_one_sentence_before_any_work(type_in, tmp_path, words, mentioned):
    assert_refused(type_in("sketch", *words.split(), "--out", tmp_path / "sketch"), mentioned)
    assert not (tmp_path / "sketch").exists()


def test_a_sketch_of_other_settings_is_left_as_it_is(type_in, sketch):
    before = names(sketch)
    words = ("sketch", "digits", "--encoders", 3, "--real-batch", 16, *NETWORK, "--out", sketch)
    assert_refused(type_in(*words, "--max-per-class", 5), r"max_per_class\b.*\b4\b.*\b5\b.*another folder")
    assert names(sketch) == before


def test_a_sketch_is_no_condensed_set_and_a_run_no_sketch(type_in, tmp_path, sketch):
    for command in (("evaluate", sketch), ("compare", sketch)):
        assert_refused(type_in(*command), f"{sketch} .*`lqm condense`.*--sketch.*condensed set")
    run = tmp_path / "run"
    words = ("condense", "digits", "--per-class", 1)
    assert type_in(*words, "--method", "random", "--out", run)[0] == 0
    assert_refused(type_in(*words, "--sketch", run, "--out", tmp_path / "other"), f"{run} .*sketch")
    for option, word in (("compile", "sideways"), ("precision", "half")):
        assert_refused(type_in("evaluate", run, f"--{option}", word), f"{option}.*'{word}'.*auto, ")


@pytest.mark.parametrize(
    "words",
    [
        ("--max-per-class", 1),
        ("--method", "puma", "--order", "shuffled", "--order-seed", 3, "--inter-task-edges"),
        ("--remainder", "drop", "--split-seed", 2, "--max-per-class", 3),
        ("--normalise-features", "--inter-task-edges"),
    ],
)
def test_the_command_that_a_sketch_of_a_stream_prints_works_when_typed(type_in, tmp_path, words):
    words = ("--classes-per-task", 4, "--set", "width=16", *words)
    folder, out = tmp_path / "my sketch", tmp_path / "stream"
    code, printed, _ = type_in("sketch", "digits-knn", "--encoders", 2, *words, "--out", folder)
    assert code == 0
    program, *following = shlex.split(printed.partition("next: ")[2])
    assert program == "lqm"
    quick = ("--set", "epochs=2", "--set", "classifier=sgc", "--repeats", 1)
    code, printed, _ = type_in(*following, *STEPS, *quick, "--out", out)
    assert code == 0
    assert str(out) in printed
    config = json.loads((out / "result.json").read_text())["config"]
    assert config["sketch"]["encoders"] == 2
    assert config["settings"]["width"] == 16
