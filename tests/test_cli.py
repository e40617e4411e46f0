"""What the user types, and what they see when they mistype."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lqm.cli import commands as cli
from lqm.distances import DISTANCES
from lqm.engine.progress import Progress
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol
from lqm.images.methods import METHODS
from lqm.images.sources import SOURCES
from tests.refusing import assert_refused

TINY = ["--set", "steps=3", "--set", "network=convnet:width=8", "--set", "real-batch=16"]


@pytest.fixture
def quick(monkeypatch):
    """The digits' protocol, at a size that takes a second."""
    name = "quick-200"
    protocol = EvaluationProtocol(name, epochs=2, networks=2, network="convnet:width=8")
    monkeypatch.setitem(PROTOCOLS, name, protocol)


def test_condense_then_evaluate(type_in, tmp_path, quick):
    out = tmp_path / "my run"
    words = ["condense", "digits", "--method", "dm", "--distance", "lqm", "--per-class", "2"]
    command = (*words, "--out", out, *TINY)
    code, printed, error = type_in(*command)
    assert code == 0
    assert re.search(rf"20 .*10 classes.*{out}", printed)
    for part in ("dm-1", "steps=3", "learning_rate=0.3", "momentum=0.5", "real_batch=16"):
        assert part in error
    assert f"lqm evaluate '{out}'\n" in printed, "as a shell takes it"
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
    assert error.count("\n") == 1, "no step is made again"
    assert re.search(rf"{out} .*\b3 steps", error)
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
    script = f"import sys, {cli.__name__}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "mentioned"),
    [
        ("condens digits", "'condens'.*'condense'"),
        ("condense digit", "'digit'.*'digits'"),
        ("condense digits --method idd", "'idd'.*'idm'"),
        ("condense digits --distance lqn", "'lqn'.*'lqm'"),
        ("condense digits --set step=5", "'step'.*'steps'"),
        ("condense digits --set steps", "'steps'.*name=value"),
        ("condense digits --set steps=0", "steps.*'0'.*greater than"),
        ("condense digits --set learning_rate=inf", "learning_rate.*'inf'.*finite"),
        ("condense digits --set steps=many", "steps.*'many'.*integer"),
        ("condense digits --set momentum=1", "momentum.*'1'.*less than 1"),
        ("condense digits --set start=mid", "'mid'.*'random', 'noise'"),
        ("condense digits --per-class 0", r"--per-class 0\b.*1,10,50"),
        ("condense digits --per-class 200", r"'8'.*\b140\b.*\b200\b"),
        ("condense digits --evaluate-every 0", r"evaluate.every\b.*\b0\b.*at least 1"),
        ("condense digits --device gpu", "'gpu'"),
        ("condense digits --device meta", "'meta'"),
    ],
)
def test_a_mistake_is_one_sentence_before_any_work(type_in, tmp_path, words, mentioned):
    out = ["--out", tmp_path / "run"] if words.startswith("condense ") else []
    assert_refused(type_in(*words.split(), *out), mentioned)
    assert not (tmp_path / "run").exists()


def test_evaluate_refuses_what_is_no_set_and_unknown_protocols(type_in, tmp_path):
    assert_refused(type_in("evaluate", tmp_path), f"{tmp_path} .*condensed set")
    assert type_in("condense", "digits", "--per-class", 1, "--out", tmp_path / "run", *TINY)[0] == 0
    assert_refused(type_in("evaluate", tmp_path / "run", "--protocol", "field"), "'field'.*field-1000")


def test_a_run_folder_with_other_settings_is_refused_by_name(type_in, tmp_path):
    command = ("condense", "digits", "--per-class", 1, "--out", tmp_path / "run", *TINY)
    assert type_in(*command)[0] == 0
    assert_refused(type_in(*command, "--seed", 1), r"/run .*seed\b.*\b0\b.*\b1\b")


def test_a_mistyped_option_names_the_right_one(type_in, tmp_path):
    code, printed, error = type_in("condense", "digits", "--out", tmp_path / "run", "--per-clas", 10)
    assert code == 2
    assert "--per-class" in printed + error


def test_a_closed_pipe_is_no_traceback():
    command = f"{Path(sys.executable).with_name('lqm')} --help | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["x" * 300, "file/below", "file"])
def test_a_folder_that_cant_be_is_one_sentence(type_in, tmp_path, name):
    (tmp_path / "file").write_text("x")
    assert_refused(type_in("condense", "digits", "--out", tmp_path / name, *TINY), f"{tmp_path}.*folder")


def test_too_little_memory_is_one_sentence(type_in, tmp_path):
    words = ("condense", "digits", "--out", tmp_path / "run", "--set", "network=convnet:width=20000000")
    assert_refused(type_in(*words), "memory .*smaller network")


def test_evaluating_a_file_or_an_unfinished_run_is_one_sentence(type_in, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "run.json").write_text("{}")
    for name in ("file", "nothing", "begun"):
        assert_refused(type_in("evaluate", tmp_path / name), f"{tmp_path / name}")


def test_on_a_terminal_there_is_a_bar_with_rate_and_time_left():
    import os
    import pty

    reader, writer = pty.openpty()
    script = f"""
from {Progress.__module__} import Progress
with Progress("walk", 8, 2) as bar:
    bar.update(5, {{"loss": 1.5}})
"""
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", script], stderr=writer, env=environment, check=True)
    os.close(writer)
    shown = os.read(reader, 100_000).decode()
    os.close(reader)
    for part in ("walk", "━", "5/8", "/s", "loss 1.5", "\x1b["):
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
    assert_refused(type_in(*command), "12x10.*--size")
    code, _, error = type_in(*command, "--size", 8, "--test-fraction", 0.25, "--start", "herding")
    assert code == 0
    for part in ("dm-1-cpu", "steps=3", "=herding", "_steps=200"):
        assert part in error
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["origin"] == {"source": photos.name, "size": 8, "test_fraction": 0.25}
    assert manifest["class_names"] == ["<b>owl<b>", "cat", "dog"]
    assert manifest["settings"]["init"] == "herding"

    code, printed, _ = type_in("evaluate", out, "--networks", "convnet:width=4,mlp", "--baselines", "random")
    assert code == 0
    assert "convnet" in printed
    assert "mlp" in printed

    other = tmp_path / "mean"
    words = ("condense", photos, "--out", other, "--distance", "mean", "--per-class", 2, "--size", 8)
    assert type_in(*words, *TINY)[0] == 0
    code, printed, _ = type_in("compare", out, other)
    assert code == 0
    assert re.search("photos.*quick-200.*2 epochs.*mlp", printed)
    assert re.search("photos.*not evaluated", printed)

    for to, name in (
        ("folder", "set"),
        ("npz", "set.npz"),
        ("parquet", "set.parquet"),
        ("png", "s.png"),
        ("torch", "s.safetensors"),
    ):
        code, printed, _ = type_in("export", out, "--to", to, "--out", tmp_path / name)
        assert code == 0
        assert printed.count("\n") == 1
        assert str(tmp_path / name) in printed
    assert len(list((tmp_path / "set").rglob("*.png"))) == 6
    assert_refused(type_in("export", out, "--to", "npy", "--out", tmp_path / "x"), "'npy'.*'npz'")


def test_recipes_are_listed(type_in):
    code, printed, _ = type_in("recipes", "cifar10")
    assert code == 0
    for part in ("lqm condense cifar10", "idm-10 ", "idm-10-cpu", "mean 57.1", "lqm 60.9"):
        assert part in printed
    assert_refused(type_in("recipes", "cifar"), "'cifar'.*'cifar10'")


def test_a_recipe_brings_method_budget_and_settings(type_in, tmp_path):
    out = tmp_path / "run"
    command = ("condense", "digits", "--recipe", "datadam-1", "--set", "steps=2")
    code, printed, error = type_in(*command, "--out", out)
    assert code == 0
    assert re.search(r"datadam-1\b.*steps=2\b.*learning_rate=0.03\b", error)
    assert re.search("10 .*of 10 classes", printed)


def test_a_named_source_says_where_it_is_looked_for(type_in, tmp_path, monkeypatch):
    monkeypatch.delenv("LQM_DATA", raising=False)
    words = ("condense", "cifar10", "--out", tmp_path / "run")
    assert_refused(type_in(*words), "'cifar10'.*--data-dir.*LQM_DATA")
    assert_refused(type_in(*words, "--data-dir", tmp_path), f"'cifar10'.*{tmp_path}")
    assert not (tmp_path / "run").exists()


def test_comparing_nothing_is_one_sentence(type_in):
    assert_refused(type_in("compare"), "compare.*runs")


def test_a_run_is_followed_and_listed(type_in, tmp_path, quick):
    out = tmp_path / "runs" / "digits"
    command = ("condense", "digits", "--per-class", 1, "--out", out, *TINY)
    code, _, error = type_in(*command, "--evaluate-every", 2, "--tensorboard")
    assert code == 0
    steps = re.findall(r"dm \+ lqm: .*quick-200: \d+\.\d % ± \d+\.\d at step (\d+)", error)
    assert steps == ["2", "3"]
    assert list((out / "tensorboard").iterdir())
    code, printed, _ = type_in("runs", tmp_path / "runs")
    assert code == 0
    assert re.search(rf"{out} +done +dm +lqm +digits +1 +3 +\d+\.\d ± \d+\.\d +\d+ s", printed)
    (out / "manifest.json").write_text("{}")
    code, printed, _ = type_in("runs", tmp_path / "runs")
    assert code == 0
    assert re.search(rf"{out} +broken +dm", printed)
    assert re.search(rf"broken: {out / 'manifest.json'} .*damaged", printed)


def test_runs_are_looked_for_in_the_folder_runs(type_in, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(type_in("runs"), "folder runs.*`lqm runs runs`")
    (tmp_path / "runs").mkdir()
    assert_refused(type_in("runs"), "no runs.* runs.*folder")


def test_only_a_few_broken_runs_say_why(type_in, tmp_path):
    for number in range(5):
        (tmp_path / f"run-{number}").mkdir()
        (tmp_path / f"run-{number}" / "run.json").write_text("{")
    _, printed, _ = type_in("runs", tmp_path)
    assert printed.count("broken: ") == 3
    assert re.search(r"\b2 more\b.*broken", printed)
