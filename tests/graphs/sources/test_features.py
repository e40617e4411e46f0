"""Features made of edges, for graphs without."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, issparse

from lqm.graphs.graph import dense
from lqm.graphs.propagation import normalised_adjacency
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.features import degree_features
from lqm.utils.errors import ConfigError, DataError


def test_a_graph_without_features_asks_what_to_make_them_of(write):
    with pytest.raises(DataError, match=r"'ring'.*degree, spectral or one-hot.*--features"):
        load_graph(write(x=None))


def test_features_of_its_own_are_never_replaced(write):
    with pytest.raises(ConfigError, match=r"'ring'.*degree.*--features"):
        load_graph(write(), features="degree")


def test_an_unknown_kind_is_refused_before_the_file_is_read(tmp_path, write):
    path = write()
    path.write_bytes(b"damaged")
    with pytest.raises(ConfigError, match=r"'degre'.*'degree'"):
        load_graph(path, features="degre")


def test_degrees_are_binned_by_their_logarithm(write):
    # Degrees of 9, 3, 2 and 1, and some isolated nodes.
    ends = np.array([[0] * 9 + [1, 2], [*range(1, 10), 2, 3]])
    source = load_graph(write(edge_index=ends, x=None), features="degree")
    degrees = np.diff(source.graph.adjacency.indptr)
    expected = [0 if degree == 0 else 1 + int(np.log2(degree)) for degree in degrees]
    found = dense(source.graph.features)
    assert found.argmax(dim=1).tolist() == expected
    assert found.sum(dim=1).eq(1).all()
    assert found.shape == (20, 32)
    assert re.search(r"\b32\b.*degree", source.notes[-1])
    assert source.origin["features"] == "degree"


def test_the_bins_of_degrees_are_those_of_every_graph():
    degrees = np.array([0, 1, 2, 3, 4, 7, 8, 2**30 - 1, 2**30, 2**31, 2**40])
    # No more than the numbers of neighbours is looked at.
    graph = SimpleNamespace(indptr=np.concatenate([[0], np.cumsum(degrees)]))
    found = degree_features(graph)
    assert isinstance(found, csr_array)
    assert (found.shape, found.dtype, found.indices.dtype) == ((11, 32), np.float32, np.int32)
    assert found.toarray().argmax(axis=1).tolist() == [0, 1, 2, 2, 3, 3, 4, 30, 31, 31, 31]
    assert (found.sum(axis=1) == 1).all()


@pytest.mark.parametrize("made", ["degree", "spectral", "one-hot", None])
def test_a_source_knows_what_its_features_were_made_of(write, made):
    assert load_graph(write(**({"x": None} if made else {})), features=made).made_features == made


def test_one_hot_is_a_sparse_identity_of_no_more_than_50_000_nodes(write):
    source = load_graph(write(x=None), features="one-hot")
    assert issparse(source.graph.features)
    assert dense(source.graph.features).equal(torch.eye(20))
    nodes = np.arange(50_001)
    large = write(edge_index=np.stack([nodes, (nodes + 1) % 50_001]), y=nodes % 2, x=None)
    with pytest.raises(DataError, match=r"50,?000\b.*degree or spectral.*--features"):
        load_graph(large, features="one-hot")


@pytest.mark.parametrize("nodes", [40, 700])
def test_spectral_features_are_eigenvectors_of_unit_variance(write, random, nodes):
    ends = np.stack([np.arange(nodes - 5), random.integers(0, nodes - 5, nodes - 5)])
    ends = np.concatenate([ends, random.integers(0, nodes - 5, (2, 3 * nodes))], axis=1)
    path = write(edge_index=ends, y=np.arange(nodes) % 2, x=None)
    source = load_graph(path, features="spectral")
    found = source.graph.features.double().numpy()
    inside = np.diff(source.graph.adjacency.indptr) > 0
    assert found.shape == (nodes, min(64, inside.sum()))
    np.testing.assert_allclose(found.std(axis=0), 1, rtol=1e-5)
    assert (found[~inside] == 0).all()
    assert (found.max(axis=0) >= -found.min(axis=0)).all()
    operator = normalised_adjacency(source.graph.adjacency).toarray()[np.ix_(inside, inside)]
    vectors = found[inside] / np.linalg.norm(found[inside], axis=0)
    values = (vectors * (operator @ vectors)).sum(axis=0)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(operator)[::-1][: len(values)], atol=1e-3)
    np.testing.assert_allclose(operator @ vectors, vectors * values, atol=2e-3)
    assert load_graph(path, features="spectral").graph.features.equal(source.graph.features)


def test_the_constant_vector_of_a_ring_stays_finite(write):
    found = load_graph(write(x=None), features="spectral").graph.features
    assert found.isfinite().all()
    torch.testing.assert_close(found[:, 0], torch.ones(20))


def test_sparse_features_stay_sparse_and_are_put_in_order(write):
    pieces = {
        "x_data": np.array([1, 2, 3, 4], np.uint8),
        "x_indices": np.array([2, 0, 1, 1]),
        "x_indptr": np.array([0, 2, 4] + [4] * 18),
        "x_shape": np.array([20, 3]),
    }
    found = load_graph(write(x=None, **pieces)).graph.features
    assert isinstance(found, csr_array)
    assert (found.dtype, found.indices.dtype) == (np.float32, np.int32)
    assert found.has_canonical_format
    assert found[:2].toarray().tolist() == [[2, 0, 1], [0, 7, 0]]


@pytest.mark.parametrize(
    ("piece", "value"),
    [
        ("x_indices", np.array([2, 0, 1, 9])),
        ("x_indices", np.array([2, 0, 1, -1])),
        ("x_indptr", np.array([0, 4])),
        ("x_indptr", np.array([0, 5, 4] + [4] * 18)),
        ("x_shape", np.array([20])),
        ("x_data", np.ones(3)),
    ],
)
def test_pieces_that_dont_go_together_are_refused(write, piece, value):
    pieces = {
        "x_data": np.ones(4),
        "x_indices": np.array([2, 0, 1, 1]),
        "x_indptr": np.array([0, 2, 4] + [4] * 18),
        "x_shape": np.array([20, 3]),
    }
    with pytest.raises(DataError, match="sparse matrix"):
        load_graph(write(x=None, **(pieces | {piece: value})))
