"""The scripts that a user would start from."""

import subprocess
import sys
from pathlib import Path

import lqm

EXAMPLES = Path(__file__).parent.parent / "examples"


def test_training_on_a_condensed_set_learns_real_digits(tmp_path):
    settings = {"steps": 5, "network": "convnet:width=16"}
    lqm.condense("digits", per_class=10, settings=settings, out=tmp_path / "run", show_progress=False)
    script = EXAMPLES / "train_on_condensed.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, check=True
    )
    share = float(done.stdout.split("right on ")[1].split("%")[0])
    assert share > 80


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
    assert float(done.stdout.split("right on ")[1].split("%")[0]) > 80
    assert "torch" not in script.read_text()


def test_a_network_of_pyg_learns_real_nodes_from_condensed_ones(tmp_path):
    settings = {"steps": 100, "width": 64}
    lqm.condense("digits-knn", budget="2%", settings=settings, out=tmp_path / "run", show_progress=False)
    script = EXAMPLES / "train_gcn_on_condensed.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path / "run"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("trained on 36 nodes, right on ")
    assert float(done.stdout.split("right on ")[1].split("%")[0]) > 80
