"""The scripts that a user would start from."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import lqm

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def run_example(monkeypatch, capsys):
    """Runs a script in this process; gives what it printed."""

    def run(name, *words):
        monkeypatch.setattr(sys, "argv", [name, *map(str, words)])
        capsys.readouterr()
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def percentage(printed):
    """How many of the real ones were right."""
    return float(re.search(r"([\d.]+)%", printed)[1])


def test_training_on_a_condensed_set_learns_real_digits(tmp_path, run_example):
    settings = {"steps": 5, "network": "convnet:width=16"}
    lqm.condense("digits", per_class=10, settings=settings, out=tmp_path / "run", show_progress=False)
    assert percentage(run_example("train_on_condensed.py", tmp_path / "run")) > 80


def test_numpy_alone_learns_real_digits_from_an_export(tmp_path):
    import numpy as np

    from lqm.condensed.export import export

    settings = {"steps": 5, "network": "convnet:width=16"}
    condensed = lqm.condense("digits", per_class=10, settings=settings, show_progress=False)
    export(condensed, "npz", tmp_path / "small.npz")
    test = lqm.load_source("digits").test
    np.savez(tmp_path / "test.npz", images=test.images.numpy(), labels=test.labels.numpy())
    script = EXAMPLES / "train_with_numpy.py"
    command = [sys.executable, script, tmp_path / "small.npz", tmp_path / "test.npz"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert percentage(done.stdout) > 80
    assert "torch" not in script.read_text()


def test_tuning_with_optuna_ends_with_one_test_of_the_best(tmp_path, run_example):
    pytest.importorskip("optuna", reason="the example tunes with Optuna, which is not installed")
    lqm.condense("digits", method="random", validation=True, out=tmp_path / "run", show_progress=False)
    printed = run_example("tune_with_optuna.py", tmp_path / "run", 3)
    assert "3 trials on 100 condensed images" in printed
    assert "all 1,442 images" in printed
    assert percentage(printed.rpartition("images:")[2]) > 80


def test_a_memory_keeps_a_plain_network_from_forgetting(run_example):
    without, with_memory, memory = run_example("replay_plain_pytorch.py").splitlines()
    last = [float(line.split()[-1].removesuffix("%")) for line in (without, with_memory)]
    assert last[0] < 30
    assert last[1] > 80
    assert memory == "CondensedMemory(100 of at most 100 images, 10 classes)"


def test_a_network_of_pyg_learns_real_nodes_from_condensed_ones(tmp_path, run_example):
    settings = {"steps": 100, "width": 64}
    lqm.condense("digits-knn", budget="2%", settings=settings, out=tmp_path / "run", show_progress=False)
    printed = run_example("train_gcn_on_condensed.py", tmp_path / "run")
    assert "36 nodes" in printed
    assert percentage(printed) > 80


def test_a_table_is_condensed_in_a_pipeline_of_scikit_learn(run_example):
    lines = run_example("condense_table_sklearn.py").splitlines()
    found = {line.split()[0]: percentage(line) for line in lines}
    assert list(found) == ["random", "herding", "k-means", "dm", "all"]
    assert found["dm"] > 93
    assert found["dm"] > found["random"]
