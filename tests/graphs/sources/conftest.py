"""No test of this folder has data but what it makes."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("LQM_DATA", raising=False)


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def write(tmp_path):
    """Writes a graph of 20 nodes in a ring to a .npz, some of its arrays replaced or, if None, left out."""

    def make(name="ring", **replaced):
        nodes = np.arange(20)
        edges = np.stack([nodes, (nodes + 1) % 20])
        arrays = {
            "edge_index": np.concatenate([edges, edges[::-1]], axis=1),
            "y": nodes % 2,
            "x": np.random.default_rng(0).random((20, 3), dtype=np.float32),
        }
        kept = {key: array for key, array in (arrays | replaced).items() if array is not None}
        np.savez(tmp_path / f"{name}.npz", **kept)
        return tmp_path / f"{name}.npz"

    return make
