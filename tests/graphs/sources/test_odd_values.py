"""Features, labels, masks and names of classes that are unusual: used as they should be, or refused."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from lqm.graphs.graph import dense
from lqm.graphs.sources import from_pyg, load_graph
from lqm.utils.errors import DataError

NODES = np.arange(20)
RING = torch.from_numpy(np.stack([NODES, (NODES + 1) % 20]))
MASKS = {"train_mask": NODES < 10, "val_mask": (NODES >= 10) & (NODES < 14), "test_mask": NODES >= 14}


def sentence(make):
    with pytest.raises(DataError) as caught:
        make()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("value", [3.8e30, -1e20, np.inf, np.nan, 1.01e15])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("place", [(0, 0), (7, 2), (19, 1)])
def test_features_beyond_any_reason_are_refused_by_node_and_column(write, value, sparse, place):
    x = np.random.default_rng(0).random((20, 3)).astype(np.float32) * (np.arange(3) != 0)
    x[place] = value
    if sparse:
        matrix = csr_matrix(x)
        pieces = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
        named = {f"x_{name}": piece for name, piece in pieces.items()}
        path = write(x=None, x_shape=np.array([20, 3]), **named)
    else:
        path = write(x=x)
    found = sentence(lambda: load_graph(path))
    assert f"node {place[0]}, column {place[1]};" in found
    assert ("NaN or infinity" in found) == (not np.isfinite(value))
    assert "1e+15" in found or np.isnan(value)


@pytest.mark.parametrize("value", [3e38, -1e16])
def test_normalising_does_not_hide_features_beyond_any_reason(write, value):
    x = np.full((20, 3), value, np.float32)
    assert "node 0, column 0;" in sentence(lambda: load_graph(write(x=x), normalise_features=True))


@pytest.mark.parametrize("value", [0, 2.5])
@pytest.mark.parametrize("sparse", [False, True])
def test_features_that_are_all_equal_are_noted(write, value, sparse):
    x = np.full((20, 3), value, np.float32)
    for changed in (False, True):
        x[3, 1] += changed
        matrix = csr_matrix(x)
        pieces = {f"x_{name}": getattr(matrix, name) for name in ("data", "indices", "indptr")}
        path = write(x=None, x_shape=np.array([20, 3]), **pieces) if sparse else write(x=x)
        assert any("equal" in note for note in load_graph(path).notes) == (not changed)


@pytest.mark.parametrize(("value", "noted"), [(9e14, True), (-2e6, True), (9e5, False)])
def test_large_features_within_reason_are_kept_and_noted(write, value, noted):
    x = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    x[4, 1] = value
    source = load_graph(write(x=x))
    assert source.graph.features.numpy().tolist() == x.tolist()
    assert any("near 1" in note for note in source.notes) == noted


@pytest.mark.parametrize(
    "mask",
    [
        np.array(True),
        np.zeros((20, 0), bool),
        np.zeros((20, 2, 2), bool),
        np.zeros(19, bool),
        NODES % 2,
        np.full(20, np.nan),
        NODES / 3,
        np.array(["a"] * 20),
        np.zeros(0, bool),
    ],
)
@pytest.mark.parametrize("name", MASKS)
def test_masks_of_odd_shape_or_type_are_refused(write, mask, name):
    found = sentence(lambda: load_graph(write(**(MASKS | {name: mask}))))
    assert name in found
    assert "[20] and bool" in found


@pytest.mark.parametrize("labels", [NODES % 2 * 1_999_999_999, NODES % 2 * (2**62), (NODES % 2) * 1e15])
def test_labels_that_are_ids_are_classes_by_their_order(write, labels):
    source = load_graph(write(y=labels))
    assert source.graph.labels.tolist() == (NODES % 2).tolist()
    assert source.class_names == ("0", str(int(labels[1])))


def test_as_many_classes_as_nodes_are_quick(write):
    count = 20_000
    nodes = np.arange(count)
    masks = {"train_mask": nodes >= 0, "test_mask": nodes < 0}
    edges = np.stack([nodes, (nodes + 1) % count])
    found = sentence(lambda: load_graph(write(edge_index=edges, y=nodes * 7, x=np.ones((count, 1)), **masks)))
    assert "test node" in found


def test_the_nodes_of_a_class_are_those_of_a_loop(write):
    source = load_graph(write(**MASKS))
    for label, found in enumerate(source.by_class):
        expected = [node for node in source.train.tolist() if source.graph.labels[node] == label]
        assert found.tolist() == expected


@pytest.mark.parametrize("shape", [(20, 30), (20, 19)])
def test_an_adjacency_that_is_no_square_is_refused(tmp_path, shape):
    pieces = {"data": np.ones(20), "indices": NODES % 19, "indptr": np.arange(21), "shape": np.array(shape)}
    arrays = {f"adj_{name}": piece for name, piece in pieces.items()}
    np.savez(tmp_path / "g.npz", **arrays, labels=NODES % 2, attr_matrix=np.ones((20, 2)))
    assert "as many columns as rows" in sentence(lambda: load_graph(tmp_path / "g.npz"))


def graph(**replaced):
    usual = {"x": torch.rand(20, 3), "edge_index": RING, "y": torch.from_numpy(NODES % 2)}
    return SimpleNamespace(**(usual | replaced))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x", torch.rand(20, 3, dtype=torch.cfloat)),
        ("x", torch.rand(20, 3, dtype=torch.cfloat).conj()),
        ("x", torch.rand(20, 3, dtype=torch.cfloat).to_sparse()),
        ("x", torch.rand(20, 3, 3).to_sparse()),
        ("x", torch.rand(20, 3).to_sparse(1)),
        ("x", torch.rand(20, 4).to_sparse_bsr((2, 2))),
        ("x", torch.rand(20, 3, device="meta")),
        ("x", torch.full((20, 3), torch.nan)),
        ("x", torch.tensor(1.0)),
        ("x", "features"),
        ("x", [[1], [1, 2]]),
        ("x", csr_matrix(np.eye(20))),
        ("y", torch.rand(20)),
        ("y", torch.rand(20, dtype=torch.cfloat)),
        ("y", torch.eye(20).to_sparse()),
        ("y", torch.full((20,), torch.inf, dtype=torch.bfloat16)),
        ("y", NODES % 2),
        ("edge_index", RING.float()),
        ("edge_index", RING.to_sparse()),
        ("edge_index", RING.bool()),
        ("edge_attr", torch.eye(20).to_sparse()),
        ("edge_attr", "weights"),
        ("train_mask", [True] * 20),
        ("train_mask", "mask"),
        ("train_mask", torch.ones(20, dtype=torch.bool).to_sparse()),
    ],
)
@pytest.mark.filterwarnings("ignore:Sparse")
def test_odd_tensors_are_refused(name, value):
    assert "'graph'" in sentence(lambda: from_pyg(graph(**{name: value})))


@pytest.mark.parametrize(
    "x",
    [
        torch.arange(60).reshape(20, 3),
        torch.arange(60).reshape(20, 3) % 2 == 0,
        torch.rand(20, 3).bfloat16(),
        torch.rand(20, 3).half(),
        torch.rand(20, 3, requires_grad=True),
        torch.rand(3, 20).T,
        torch.rand(20, 3).double(),
    ],
)
@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_features_of_any_numbers_and_layout_become_floats(x, layout):
    given = x if layout == torch.strided else x.detach().to_sparse(layout=layout)
    assert dense(from_pyg(graph(x=given)).graph.features).equal(x.detach().float())


def test_entries_that_are_there_twice_are_added():
    x = torch.sparse_coo_tensor([[3, 0, 3], [1, 2, 1]], [1.0, 2.0, 4.0], (20, 3))
    assert dense(from_pyg(graph(x=x)).graph.features).equal(x.to_dense())


@pytest.mark.parametrize("names", [5, "ab", {"a", "b"}, [1, 2], [None, None], np.array([["a", "b"]]), ["a"]])
def test_class_names_that_are_no_names_are_refused(names):
    assert "'graph'" in sentence(lambda: from_pyg(graph(), class_names=names))


def test_class_names_that_are_not_unicode_are_mended():
    source = from_pyg(graph(), class_names=["a\udc80", "b"])
    assert source.class_names == ("a?", "b")
    assert source.fingerprint
