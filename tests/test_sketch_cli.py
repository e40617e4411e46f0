"""Sketches and several runs at once on the command line: what is made, what is said, and what is refused."""

import json

import pytest

import lqm

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
    assert "sketch for dm: network=convnet:width=8, real_batch=16" in error
    folder = tmp_path / "runs" / "digits-sketch"
    size = sum(path.stat().st_size for path in folder.iterdir()) / 1000
    following = "next: lqm condense digits --sketch runs/digits-sketch --per-class 1,10"
    assert printed == f"2 encoders in runs/digits-sketch ({size:.1f} kB); {following}\n"
    before = names(folder)
    code, printed, error = type_in(*command, "--encoders", 3)
    assert code == 0
    assert "2 of 3 encoders are there already" in error
    assert printed.startswith("3 encoders in runs/digits-sketch")
    assert len(set(names(folder)) - set(before)) == 1

    words = ("condense", "digits", "--sketch", "runs/digits-sketch", *STEPS)
    code, printed, error = type_in(*words, "--per-class", "1,10", "--seed", "0..1")
    assert code == 0
    out = tmp_path / "runs" / "digits-by-sketch"
    runs = ["1-seed-0", "1-seed-1", "10-seed-0", "10-seed-1"]
    assert names(out) == runs
    assert "lqm: run 1 of 4: runs/digits-by-sketch/10-seed-0\n" in error, "the largest comes first"
    assert "the sketch has 3 encoders" not in error
    for name in ("per class", "seed", "seconds", "folder", *runs):
        assert name in printed
    assert printed.endswith(
        "4 runs in runs/digits-by-sketch\n"
        "next: lqm evaluate runs/digits-by-sketch/1-seed-0 and so on, then lqm compare "
        "runs/digits-by-sketch/*\n"
    )
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
    assert error.count("is finished already, after 2 steps") == 2
    assert f"run 3 of 3: {tmp_path / 'runs' / '3-seed-0'}" in error
    assert "3 runs in" in printed
    assert names(tmp_path / "runs") == ["1-seed-0", "2-seed-0", "3-seed-0"]


def test_what_has_begun_with_other_settings_is_refused_before_new_work(type_in, tmp_path):
    words = ("condense", "digits", "--out", tmp_path / "runs", *TINY)
    assert type_in(*words, "--per-class", 1, "--seed", "0,2")[0] == 0
    code, _, error = type_in(*words, "--per-class", "1,3", "--seed", "0,2", "--distance", "mean")
    assert code == 1
    assert "1-seed-0 holds a run with distance.name = 'lqm', not 'mean'" in error
    assert names(tmp_path / "runs") == ["1-seed-0", "1-seed-2"]


def test_the_largest_budget_is_refused_before_any_work(type_in, tmp_path, sketch):
    words = ("condense", "digits", "--out", tmp_path / "runs", *STEPS)
    code, _, error = type_in(*words, "--per-class", "1,200")
    assert code == 1
    assert "has 140 training images, fewer than per_class = 200" in error
    code, _, error = type_in(*words, "--per-class", "1,5,2", "--sketch", sketch)
    assert code == 1
    assert "is fine enough for 4 synthetic records of a class, not for 5" in error
    assert "--max-per-class 5" in error
    assert not (tmp_path / "runs").exists()


def test_one_run_and_several_do_not_share_a_folder(type_in, tmp_path, sketch):
    words = ("condense", "digits", "--sketch", sketch, "--per-class", 1, *STEPS)
    assert type_in(*words, "--out", tmp_path / "one", "--seed", "3..3")[0] == 0
    assert manifest(tmp_path / "one")["seed"] == 3
    code, _, error = type_in(*words, "--out", tmp_path / "one", "--seed", "3,4")
    assert code == 1
    assert f"{tmp_path / 'one'} holds a single run or a sketch; choose another folder for several" in error


def test_a_graph_is_sketched_and_condensed_into_several_budgets(type_in, tmp_path):
    folder, out = tmp_path / "sketch", tmp_path / "runs"
    words = ("--split", "random", "--set", "width=16", "--max-per-class", 6)
    code, printed, _ = type_in("sketch", "digits-knn", "--encoders", 2, *words, "--out", folder)
    assert code == 0
    assert f"next: lqm condense digits-knn --split random --sketch {folder} --budget 10\n" in printed
    words = ("condense", "digits-knn", "--sketch", folder, *STEPS, "--out", out)
    code, printed, _ = type_in(*words, "--split", "random", "--budget", "1%,2.5%,20")
    assert code == 0
    assert names(out) == ["1-percent-seed-0", "2.5-percent-seed-0", "20-seed-0"]
    assert [manifest(out / name)["budget"] for name in names(out)] == [18, 45, 20]
    assert "budget" in printed
    code, _, error = type_in(*words, "--budget", "2%,half")
    assert code == 1
    assert "budget = 'half' can't be used; give a number of nodes such as 40, or a share such as 1%" in error


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--seed 0..x", "--seed 0..x can't be used: give whole numbers, such as 3 or 1,10,50 or 1..4"),
        ("--seed 4..0", "--seed 4..0 can't be used: give whole numbers"),
        ("--seed 0,,1", "--seed 0,,1 can't be used: give whole numbers"),
        ("--seed 0.5", "--seed 0.5 can't be used: give whole numbers"),
        ("--seed 0..1000000000", "--seed 0..1000000000 can't be used: give at most 1,000 values at a time"),
        ("--per-class 10,0", "--per-class 10,0 can't be used: give whole numbers from 1 on, such as 3"),
        ("--per-class many", "--per-class many can't be used: give whole numbers from 1 on, such as 3"),
        ("--per-class 1,10 --recipe dm-10", "recipe 'dm-10' is for one per_class, not for 1,10; leave one"),
        ("--compile sideways", "compile = 'sideways' can't be used: it should be one of auto, on, off"),
        ("--precision half", "precision = 'half' can't be used: it should be one of auto, fp32, bf16"),
        ("--sketch nowhere", "nowhere holds no sketch; name a folder that `lqm sketch` has made"),
        ("--sketch SKETCH --method idm", "SKETCH is for method 'dm'; make one for 'idm'"),
        ("--sketch SKETCH --distance energy", "distance 'energy' compares whole records, and a sketch keeps"),
        ("--sketch SKETCH", "SKETCH is fine enough for 4 synthetic records of a class, not for 10; make one"),
        ("--sketch SKETCH --real-batch 8", "SKETCH was made with real_batch = 16, not 8; leave real_batch"),
        (
            "--sketch SKETCH --set network=mlp",
            "SKETCH was made with network = 'convnet:width=8', not 'mlp'; leave network out, or make another",
        ),
        ("--sketch SKETCH --augmentation flip", "SKETCH was made of 'digits', and this 'digits' has other"),
    ],
)
def test_what_cant_be_condensed_is_one_sentence_before_any_work(type_in, tmp_path, sketch, words, sentence):
    given = words.replace("SKETCH", str(sketch)).split()
    code, printed, error = type_in("condense", "digits", *given, "--out", tmp_path / "run")
    assert code == 1
    assert printed == ""
    assert sentence.replace("SKETCH", str(sketch)) in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("digit", "there is no source 'digit'; did you mean 'digits'?"),
        ("digits --encoders 0", "encoders = 0 can't be used: it should be a whole number, at least 1"),
        ("digits --max-per-class 0", "max_per_class = 0 can't be used: it should be a whole number"),
        ("digits --method herding", "method 'herding' chooses real records and needs no sketch"),
        ("digits --method cat", "method 'cat' is for graphs, and 'digits' is images"),
        (
            "digits --set steps=5",
            "setting 'steps' has no part in a sketch for 'dm', only network, real_batch",
        ),
        ("digits --set widht=5", "there is no setting 'widht'"),
        (
            "digits --compile sideways",
            "compile = 'sideways' can't be used: it should be one of auto, on, off",
        ),
        ("digits --precision half", "precision = 'half' can't be used: it should be one of auto, fp32, bf16"),
        ("digits-knn --precision fp32", "precision is for images, and 'digits-knn' is a graph"),
        ("digits-knn --method random", "method 'random' chooses real records and needs no sketch"),
        ("digits-knn --set widht=5", "there is no setting 'widht'; did you mean 'width'?"),
    ],
)
def test_what_cant_be_sketched_is_one_sentence_before_any_work(type_in, tmp_path, words, sentence):
    code, printed, error = type_in("sketch", *words.split(), "--out", tmp_path / "sketch")
    assert code == 1
    assert printed == ""
    assert error.startswith(f"lqm: {sentence}")
    assert error.count("\n") == 1
    assert not (tmp_path / "sketch").exists()


def test_a_sketch_of_other_settings_is_left_as_it_is(type_in, sketch):
    before = names(sketch)
    words = ("sketch", "digits", "--encoders", 3, "--real-batch", 16, *NETWORK, "--out", sketch)
    code, _, error = type_in(*words, "--max-per-class", 5)
    assert code == 1
    assert "max_per_class = 4, not 5; choose another folder" in error
    assert names(sketch) == before


def test_a_sketch_is_no_condensed_set_and_a_run_no_sketch(type_in, tmp_path, sketch):
    for command in (("evaluate", sketch), ("compare", sketch)):
        code, _, error = type_in(*command)
        assert code == 1
        assert error == (
            f"lqm: {sketch} is a sketch; give it to `lqm condense` with --sketch, or name a condensed set\n"
        )
    run = tmp_path / "run"
    words = ("condense", "digits", "--per-class", 1)
    assert type_in(*words, "--method", "random", "--out", run)[0] == 0
    code, _, error = type_in(*words, "--sketch", run, "--out", tmp_path / "other")
    assert code == 1
    assert f"{run} holds something else than a sketch" in error
    for option, word in (("--compile", "sideways"), ("--precision", "half")):
        code, printed, error = type_in("evaluate", run, option, word)
        assert code == 1
        assert printed == ""
        assert error.startswith(f"lqm: {option[2:]} = '{word}' can't be used: it should be one of auto, ")
        assert error.count("\n") == 1
