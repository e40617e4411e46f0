"""What the user types, and what they see when they mistype."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lqm import cli
from lqm.distances import DISTANCES
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.images.methods import METHODS
from lqm.images.sources import SOURCES

TINY = ["--set", "steps=3", "--set", "network=convnet:width=8", "--set", "real-batch=16"]


@pytest.fixture
def quick(monkeypatch):
    """The digits' protocol, at a size that takes a second."""
    name = "quick-200"
    protocol = EvaluationProtocol(name, epochs=2, networks=2, network="convnet:width=8")
    monkeypatch.setitem(PROTOCOLS, name, protocol)


def test_condense_then_evaluate(type_in, tmp_path, quick):
    out = tmp_path / "my run"
    command = (
        "condense",
        "digits",
        "--method",
        "dm",
        "--distance",
        "lqm",
        "--per-class",
        2,
        "--out",
        out,
        *TINY,
    )
    code, printed, error = type_in(*command)
    assert code == 0
    assert f"20 images of 10 classes in {out}" in printed
    assert "lqm: recipe dm-1: steps=3, learning_rate=0.3, momentum=0.5, real_batch=16" in error
    assert f"next: lqm evaluate '{out}'\n" in printed, "as a shell takes it"
    assert (out / "images.png").exists()
    assert {p.name for p in out.iterdir()} >= {"run.json", "metrics.jsonl", "checkpoints", "manifest.json"}
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["distance"]["name"] == "lqm"
    assert manifest["settings"]["real_batch"] == 16
    assert manifest["steps"] == 3
    assert manifest["source"]["name"] == "digits"

    code, printed, _ = type_in("evaluate", out)
    assert code == 0
    for expected in ("condensed", "random", "full", "±", "2 epochs", "quick-200"):
        assert expected in printed
    scores = json.loads((out / "manifest.json").read_text())["scores"]
    assert len(scores) == 1
    assert scores[0]["protocol"]["epochs"] == 2
    assert len(scores[0]["accuracies"]) == 2

    before = (out / "manifest.json").read_bytes()
    code, _, error = type_in(*command)
    assert code == 0
    assert error == f"lqm: {out} is finished already, after 3 steps\n", "no step is made again"
    assert (out / "manifest.json").read_bytes() == before, "a finished run is left as it is, scores and all"


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.COMMANDS)])
def test_help_fits_a_screen_and_has_an_example(type_in, command):
    code, printed, _ = type_in(*command, "--help")
    assert code == 0
    assert "Example: lqm" in printed
    assert len(printed.splitlines()) <= (60 if command else 40)


def test_help_names_methods_sources_and_protocols_and_says_how_to_list_distances(type_in, tmp_path):
    words = set(re.findall(r"[\w-]+", type_in("condense", "--help")[1]))
    assert words >= {*METHODS, *SOURCES, "lqm", "mean"}
    assert set(re.findall(r"[\w-]+", type_in("evaluate", "--help")[1])) >= {*PROTOCOLS}
    error = type_in("condense", "digits", "--distance", "?", "--out", tmp_path / "run")[2]
    assert set(re.findall(r"[\w-]+", error)) >= {*DISTANCES}


def test_no_words_at_all_show_the_help(type_in):
    code, printed, _ = type_in()
    assert code == 0
    assert "condense" in printed


def test_version(type_in):
    assert re.fullmatch(r"lqm \d+\.\d+\.\d+\n", type_in("--version")[1])


def test_help_does_not_wait_for_torch():
    script = "import sys, lqm.cli; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("condens digits", "there is no command 'condens'; did you mean 'condense'?"),
        ("condense digit", "there is no source 'digit'; did you mean 'digits'?"),
        ("condense digits --method md", "there is no method 'md'; did you mean 'dm'?"),
        ("condense digits --distance lqn", "there is no distance 'lqn'; did you mean 'lqm'?"),
        ("condense digits --set step=5", "there is no setting 'step'; did you mean 'steps'?"),
        ("condense digits --set steps", "'steps' is no setting; write it as name=value"),
        ("condense digits --set steps=0", "steps = '0' can't be used: input should be greater"),
        (
            "condense digits --set learning_rate=inf",
            "learning_rate = 'inf' can't be used: input should be a fin",
        ),
        ("condense digits --set steps=many", "steps = 'many' can't be used: input should be a valid integer"),
        ("condense digits --set momentum=1", "momentum = '1' can't be used: input should be less than 1"),
        (
            "condense digits --set start=mid",
            "start = 'mid' can't be used: input should be 'random', 'noise', ",
        ),
        (
            "condense digits --per-class 0",
            "--per-class 0 can't be used: give whole numbers from 1 on, such as 3 or 1,10,50 or 1..4",
        ),
        (
            "condense digits --per-class 200",
            "class '8' of 'digits' has 140 training images, fewer than per",
        ),
        (
            "condense digits --evaluate-every 0",
            "evaluate_every = 0 can't be used: it should be a whole number, at least 1",
        ),
        ("condense digits --device gpu", "device 'gpu' can't be used here"),
        ("condense digits --device meta", "device 'meta' can't be used here"),
    ],
)
def test_a_mistake_is_one_sentence_before_any_work(type_in, tmp_path, words, sentence):
    out = ["--out", tmp_path / "run"] if words.startswith("condense ") else []
    code, printed, error = type_in(*words.split(), *out)
    assert code == 1
    assert error.startswith(f"lqm: {sentence}")
    assert error.count("\n") == 1
    assert printed == ""
    assert not (tmp_path / "run").exists()


def test_evaluate_refuses_what_is_no_set_and_unknown_protocols(type_in, tmp_path):
    code, _, error = type_in("evaluate", tmp_path)
    assert code == 1
    assert "holds no condensed set" in error
    assert type_in("condense", "digits", "--per-class", 1, "--out", tmp_path / "run", *TINY)[0] == 0
    code, _, error = type_in("evaluate", tmp_path / "run", "--protocol", "field")
    assert code == 1
    assert "did you mean 'field-1000'?" in error


def test_a_run_folder_with_other_settings_is_refused_by_name(type_in, tmp_path):
    command = ("condense", "digits", "--per-class", 1, "--out", tmp_path / "run", *TINY)
    assert type_in(*command)[0] == 0
    code, _, error = type_in(*command, "--seed", 1)
    assert code == 1
    assert "holds a run with seed = 0, not 1" in error


def test_a_mistyped_option_names_the_right_one(type_in, tmp_path):
    code, printed, error = type_in("condense", "digits", "--out", tmp_path / "run", "--per-clas", 10)
    assert code == 2
    assert "--per-class" in printed + error


def test_a_closed_pipe_is_no_traceback():
    command = f"{Path(sys.executable).with_name('lqm')} --help | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["x" * 300, "file/below", "file"])
def test_a_folder_that_cant_be_is_one_sentence(type_in, tmp_path, name):
    (tmp_path / "file").write_text("x")
    code, _, error = type_in("condense", "digits", "--out", tmp_path / name, *TINY)
    assert code == 1
    assert "can't be used as a folder for the run" in error
    assert error.count("\n") == 1


def test_too_little_memory_is_one_sentence(type_in, tmp_path):
    code, _, error = type_in(
        "condense", "digits", "--out", tmp_path / "run", "--set", "network=convnet:width=20000000"
    )
    assert code == 1
    assert (
        error == "lqm: there is not enough memory; try a smaller network, real_batch, per_class or budget\n"
    )


def test_evaluating_a_file_or_an_unfinished_run_is_one_sentence(type_in, tmp_path):
    (tmp_path / "file").write_text("x")
    for name, said in (("file", "file holds no condensed set"), ("nothing", "there is no folder ")):
        code, _, error = type_in("evaluate", tmp_path / name)
        assert code == 1
        assert said in error


def test_on_a_terminal_there_is_a_bar_with_rate_and_time_left():
    import os
    import pty

    reader, writer = pty.openpty()
    script = """
from lqm.engine.progress import Progress
with Progress("walk", 8, 2) as bar:
    bar.update(5, {"loss": 1.5})
"""
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", script], stderr=writer, env=environment, check=True)
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    for part in ("walk", "━", "5/8", "/s", "left", "loss 1.5", "\x1b["):
        assert part in shown


@pytest.fixture
def photos(tmp_path):
    """A folder of class folders with 12 PNGs each, 12x10, the same for every test."""
    draws = np.random.default_rng(0)
    for label, name in enumerate(("cat", "dog", "<b>owl</b>")):
        folder = tmp_path / "photos" / name.replace("/", "")
        folder.mkdir(parents=True)
        for number in range(12):
            pixels = draws.integers(60 * label, 60 * label + 100, (10, 12, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / f"{number}.png")
    return tmp_path / "photos"


def test_a_folder_of_images_from_start_to_end(type_in, tmp_path, photos, quick):
    out = tmp_path / "run"
    command = ("condense", photos, "--out", out, "--per-class", 2, *TINY)
    code, _, error = type_in(*command)
    assert code == 1
    assert "12x10" in error
    assert "--size" in error
    code, printed, error = type_in(*command, "--size", 8, "--test-fraction", 0.25, "--start", "herding")
    assert code == 0
    assert "recipe dm-1-cpu: steps=3" in error
    assert "start=herding, start_steps=200" in error
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["origin"] == {"source": str(photos), "size": 8, "test_fraction": 0.25}
    assert manifest["class_names"] == ["<b>owl<b>", "cat", "dog"]
    assert manifest["settings"]["start"] == "herding"

    code, printed, _ = type_in("evaluate", out, "--networks", "convnet:width=4,mlp", "--baselines", "random")
    assert code == 0
    assert "convnet" in printed
    assert "mlp" in printed

    other = tmp_path / "mean"
    assert (
        type_in(
            "condense", photos, "--out", other, "--distance", "mean", "--per-class", 2, "--size", 8, *TINY
        )[0]
        == 0
    )
    code, printed, _ = type_in("compare", out, other)
    assert code == 0
    assert "photos: quick-200, 2 epochs, mlp" in printed
    assert "photos: not evaluated yet" in printed

    for to, name in (
        ("folder", "set"),
        ("npz", "set.npz"),
        ("parquet", "set.parquet"),
        ("png", "s.png"),
        ("torch", "s.safetensors"),
    ):
        code, printed, _ = type_in("export", out, "--to", to, "--out", tmp_path / name)
        assert code == 0
        assert printed == f"wrote {tmp_path / name}\n"
    assert len(list((tmp_path / "set").rglob("*.png"))) == 6
    code, _, error = type_in("export", out, "--to", "npy", "--out", tmp_path / "x")
    assert code == 1
    assert "did you mean 'npz'?" in error


def test_recipes_are_listed(type_in):
    code, printed, _ = type_in("recipes", "cifar10")
    assert code == 0
    for part in ("lqm condense cifar10", "idm-10 ", "idm-10-cpu", "mean 57.1, lqm 60.9"):
        assert part in printed
    code, _, error = type_in("recipes", "cifar")
    assert code == 1
    assert "did you mean 'cifar10'?" in error


def test_a_recipe_brings_method_budget_and_settings(type_in, tmp_path):
    out = tmp_path / "run"
    command = ("condense", "digits", "--recipe", "datadam-1", "--set", "steps=2")
    code, printed, error = type_in(*command, "--out", out)
    assert code == 0
    assert "recipe datadam-1: steps=2, learning_rate=0.03" in error
    assert "10 images of 10 classes" in printed


def test_a_named_source_says_where_it_is_looked_for(type_in, tmp_path, monkeypatch):
    monkeypatch.delenv("LQM_DATA", raising=False)
    _, _, error = type_in("condense", "cifar10", "--out", tmp_path / "run")
    assert "--data-dir" in error
    assert "LQM_DATA" in error
    _, _, error = type_in("condense", "cifar10", "--data-dir", tmp_path, "--out", tmp_path / "run")
    assert f"'cifar10' was not found in {tmp_path}" in error
    assert not (tmp_path / "run").exists()


def test_comparing_nothing_is_one_sentence(type_in):
    code, _, error = type_in("compare")
    assert code == 1
    assert error == "lqm: there is nothing to compare; name one or more runs\n"


def test_a_run_is_followed_and_listed(type_in, tmp_path, quick):
    out = tmp_path / "runs" / "digits"
    command = ("condense", "digits", "--per-class", 1, "--out", out, *TINY)
    code, _, error = type_in(*command, "--evaluate-every", 2, "--tensorboard")
    assert code == 0
    steps = re.findall(
        r"dm \+ lqm: evaluated at step (\d+): accuracy 0\.\d{3} ± 0\.\d{3} \(quick-200\)", error
    )
    assert steps == ["2", "3"]
    assert list((out / "tensorboard").iterdir())
    code, printed, _ = type_in("runs", tmp_path / "runs")
    assert code == 0
    assert re.search(rf"{out} +done +dm +lqm +digits +1 +3 +\d+\.\d ± \d+\.\d +\d+ s", printed)
    (out / "manifest.json").write_text("{}")
    code, printed, _ = type_in("runs", tmp_path / "runs")
    assert code == 0
    assert re.search(rf"{out} +broken +dm", printed)
    assert f"broken: {out / 'manifest.json'} is damaged" in printed


def test_runs_are_looked_for_in_the_folder_runs(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, printed, error = type_in("runs")
    assert (code, printed) == (1, "")
    assert error == "lqm: there is no folder runs; name one that holds runs, as in `lqm runs runs`\n"
    (tmp_path / "runs").mkdir()
    code, _, error = type_in("runs")
    assert code == 1
    assert error.startswith("lqm: there are no runs in runs; name a folder that")


def test_only_a_few_broken_runs_say_why(type_in, tmp_path):
    for number in range(5):
        (tmp_path / f"run-{number}").mkdir()
        (tmp_path / f"run-{number}" / "run.json").write_text("{")
    _, printed, _ = type_in("runs", tmp_path)
    assert printed.count("broken: ") == 3
    assert "and 2 more that are broken\n" in printed
