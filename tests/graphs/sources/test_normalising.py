"""Features divided by the sum of each row; oracles are PyG on counts and scikit-learn on anything."""

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, issparse, random_array
from sklearn.preprocessing import normalize
from torch_geometric.data import Data
from torch_geometric.transforms import NormalizeFeatures

import lqm
from lqm.graphs.graph import dense
from lqm.graphs.sources import from_pyg, load_graph
from lqm.graphs.stream import make_stream
from lqm.utils.errors import ConfigError, DataError


def counts(random):
    """Words of 20 nodes, some of which have none."""
    found = random.integers(0, 4, (20, 30)) * (random.random((20, 30)) < 0.3)
    found[[3, 11]] = 0
    return found.astype(np.float32)


def pieces(matrix):
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"x_{name}": np.asarray(part) for name, part in parts.items()}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_counts_become_what_pyg_makes_of_them(write, random, kind):
    words = counts(random)
    given = {"x": words} if kind == "dense" else {"x": None, **pieces(csr_array(words))}
    source = load_graph(write(**given), normalise_features=True)
    expected = NormalizeFeatures()(Data(x=torch.from_numpy(words))).x
    assert issparse(source.graph.features) == (kind == "sparse")
    torch.testing.assert_close(dense(source.graph.features), expected)
    assert dense(source.graph.features)[[3, 11]].eq(0).all()
    assert any("divided" in note for note in source.notes)


@pytest.mark.parametrize("rows", [3, 65_536])
def test_any_features_become_what_scikit_learn_makes_of_them(write, random, monkeypatch, rows):
    monkeypatch.setattr("lqm.graphs.sources.features._ROWS", rows)
    values = random.normal(size=(20, 6)).astype(np.float32) * 10.0 ** random.integers(-6, 6, (20, 1))
    values[5] = 0
    expected = torch.from_numpy(normalize(values, norm="l1")).float()
    for given in ({"x": values}, {"x": None, **pieces(csr_array(values))}):
        found = load_graph(write(**given), normalise_features=True).graph.features
        assert found.dtype in (torch.float32, np.float32)
        torch.testing.assert_close(dense(found), expected)


def test_stored_zeros_divide_by_nothing(write):
    stored = csr_array(random_array((20, 6), density=0.5, rng=np.random.default_rng(0), dtype=np.float32))
    stored.data[stored.indptr[2] : stored.indptr[3]] = 0
    found = load_graph(write(x=None, **pieces(stored)), normalise_features=True).graph.features
    np.testing.assert_allclose(found.toarray(), normalize(stored.toarray(), norm="l1"), rtol=1e-6)


def test_what_the_user_has_is_left_as_it_is(random):
    edges = torch.from_numpy(random.integers(0, 20, (2, 40)))
    data = Data(torch.from_numpy(counts(random)), edges, y=torch.arange(20) % 2)
    before = data.x.clone()
    source = from_pyg(data, normalise_features=True)
    assert data.x.equal(before)
    assert source.fingerprint != from_pyg(data).fingerprint
    assert source.fingerprint == load_graph(data, normalise_features=True).fingerprint


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.filterwarnings("error")
def test_what_is_no_number_is_refused_still(write, bad):
    values = np.ones((20, 3), np.float32)
    values[4, 1] = bad
    for given in ({"x": values}, {"x": None, **pieces(csr_array(values))}):
        with pytest.raises(DataError, match="NaN or infinity"):
            load_graph(write(**given), normalise_features=True)


def test_a_set_is_evaluated_on_features_as_it_was_condensed_from(write, random, tmp_path, monkeypatch):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    path = write(x=counts(random))
    run = tmp_path / "run"
    options = {"budget": 4, "settings": {"steps": 2, "width": 8}, "show_progress": False, "out": run}
    made = lqm.condense(path, normalise_features=True, **options)
    again = load_graph(**made.manifest["origin"] | {"source": path})
    assert again.graph.features.sum(dim=1).sub(1).abs().lt(1e-5).sum() == 18
    assert made.manifest["source"]["fingerprint"] == again.fingerprint
    lqm.evaluate(run, protocol="graph-quick", show_progress=False, baselines=())
    plain = load_graph(path)
    with pytest.raises(DataError, match="features"):
        lqm.evaluate(run, source=plain, protocol="graph-quick", show_progress=False, baselines=())
    with pytest.raises(ConfigError, match="fingerprint"):
        lqm.condense(path, **options)


def test_every_task_of_a_stream_has_normalised_features(write, random):
    path = write(x=counts(random), y=np.arange(20) % 4)
    found = lqm.continual(
        path,
        method="random",
        budget=2,
        normalise_features=True,
        settings={"epochs": 1, "features": "own"},
        show_progress=False,
        repeats=1,
    )
    assert found.origin["normalise_features"] is True
    source = load_graph(**found.origin)
    stored = torch.cat([memory.features for memory in found.memories[0]])
    every = torch.cat([task.graph.features for task in make_stream(source).tasks])
    assert all((every == row).all(dim=1).any() for row in stored)


def test_the_option_is_refused_where_it_means_nothing(write):
    with pytest.raises(ConfigError, match=r"source already.*normalise_features"):
        load_graph(load_graph(write()), normalise_features=True)
    with pytest.raises(ConfigError, match=r"normalise_features is for graphs.*'digits'"):
        lqm.condense("digits", normalise_features=True)
    with pytest.raises(ConfigError, match=r"normalise_features = 'yes'"):
        load_graph(write(), normalise_features="yes")
