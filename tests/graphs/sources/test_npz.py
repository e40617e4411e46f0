"""Graphs in `.npz` files; the oracle for the benchmarks' form is PyG."""

import contextlib
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from torch_geometric.io import read_npz as pyg_reads

from lqm.graphs.graph import dense
from lqm.graphs.sources import is_graph, load_graph
from lqm.utils.errors import DataError


def pieces(matrix, prefix):
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
    return {f"{prefix}{name}": np.asarray(part) for name, part in parts.items()}


def random_matrix(random, shape):
    return csr_array(random_array(shape, density=0.2, rng=random, dtype=np.float32) > 0).astype(np.float32)


@pytest.mark.parametrize(
    ("adjacency", "attributes"),
    [("adj_", "attr_"), ("adj_matrix.", "attr_matrix."), ("adj_matrix_", "attr_matrix_")],
)
def test_the_form_of_the_benchmarks_is_read_as_pyg_does(tmp_path, random, adjacency, attributes):
    edges, features = random_matrix(random, (30, 30)), random_matrix(random, (30, 8))
    labels = np.arange(30) % 3
    objects = {"idx_to_node": np.array([{}], object), "class_names": np.array([{"a": 1}], object)}
    np.savez(
        tmp_path / "own.npz",
        **pieces(edges, adjacency),
        **pieces(features, attributes),
        labels=labels,
        **objects,
    )
    np.savez(tmp_path / "pyg.npz", **pieces(edges, "adj_"), **pieces(features, "attr_"), labels=labels)
    assert is_graph(tmp_path / "own.npz")
    source = load_graph(tmp_path / "own.npz")
    oracle = pyg_reads(str(tmp_path / "pyg.npz"), to_undirected=True)
    expected = np.zeros((30, 30))
    expected[tuple(oracle.edge_index.numpy())] = 1
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    # PyG makes features binary; these are.
    assert dense(source.graph.features).equal(oracle.x)
    assert source.graph.labels.equal(oracle.y)
    assert source.class_names == ("0", "1", "2")


def test_names_dense_attributes_weights_and_zeros(tmp_path, random):
    edges = csr_array(np.array([[0, 2.0, 0], [0, 0, 1], [1, 0, 0]]).repeat(5, 0).repeat(5, 1))
    edges.data[0] = 0
    names = np.array(["x", "y", "z"])
    attributes = random.random((15, 4))
    path = tmp_path / "g.npz"
    np.savez(
        path, **pieces(edges, "adj_"), attr_matrix=attributes, labels=np.arange(15) % 3, class_names=names
    )
    source = load_graph(path)
    assert source.class_names == ("x", "y", "z")
    assert "weights" in source.notes[0]
    assert source.graph.edges == 74
    np.testing.assert_allclose(source.graph.features.numpy(), attributes, rtol=1e-6)


def test_a_mask_for_validation_may_be_missing(write):
    nodes = np.arange(20)
    source = load_graph(write(train_mask=nodes < 4, test_mask=nodes > 9))
    assert len(source.validation) == 0
    assert len(source.test) == 10


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"edge_index": None}, r"ring\.npz .*x, y.*edge_index"),
        ({"y": None}, "'y'"),
        ({"edge_index": None, "y": None, "x": None}, "nothing"),
        ({"edge_index": None, "adj_indptr": np.zeros(3)}, "adj_indptr, x, y.*'labels'"),
        ({"edge_index": None, "adj_indptr": np.zeros(3), "labels": np.zeros(3)}, "'adj_data'"),
        ({"y": np.array([{}], object)}, "'y' of .*objects"),
    ],
)
def test_what_is_missing_is_named(write, arrays, sentence):
    with pytest.raises(DataError, match=sentence):
        load_graph(write(**arrays))


def test_a_damaged_file_is_refused(write):
    path = write()
    content = bytearray(path.read_bytes())
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=r"ring\.npz .*\.npz .*again"):
        load_graph(path)
    content[200] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"again|plain arrays"):
        load_graph(path)


def rewritten(path, member, content, name=None):
    """The archive with other content, and perhaps another name, of one of its members."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.pop(member)
    with zipfile.ZipFile(path, "w") as archive:
        for other, unchanged in {**members, name or member: content}.items():
            archive.writestr(other, unchanged)


@pytest.mark.parametrize("name", ["y", "y.npy"])
def test_a_member_that_is_no_array_is_refused(write, name):
    path = write()
    rewritten(path, "y.npy", b"0 1 0 1", name)
    with pytest.raises(DataError, match=r"'y' of .*ring\.npz .*plain arrays"):
        load_graph(path)


# Where the flags and the kind of compression of a member are, from the beginning of its entries.
FLAGS, COMPRESSION = (6, 8), (8, 10)


@pytest.mark.parametrize(
    ("places", "value", "sentence"),
    [(FLAGS, 1, "encrypted"), (COMPRESSION, 9, "compression"), (COMPRESSION, 14, r"\(.+\)")],
)
def test_encryption_and_unknown_compression_are_refused(write, places, value, sentence):
    path = write()
    content = bytearray(path.read_bytes())
    for mark, place in zip((b"PK\x03\x04", b"PK\x01\x02"), places, strict=True):
        start = content.find(mark)
        while start >= 0:
            content[start + place] = value
            start = content.find(mark, start + 1)
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"ring\.npz .*{sentence}.*again"):
        load_graph(path)


def header(words):
    return b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words


@pytest.mark.parametrize(
    "words",
    [
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (1000000000000000,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (%d,), }" % 10**30,
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (-3,), }",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), ",
        b"(" * 5000,
        b"'",
        b"",
    ],
)
def test_a_damaged_header_is_refused(write, words):
    path = write()
    rewritten(path, "y.npy", header(words))
    with pytest.raises(DataError, match=r"'y' of .*ring\.npz "):
        load_graph(path)


def test_a_changed_byte_anywhere_is_a_graph_or_a_sentence(write, random):
    path = write()
    content = path.read_bytes()
    for _ in range(300):
        changed = bytearray(content)
        changed[random.integers(len(content))] ^= 1 << random.integers(8)
        path.write_bytes(changed)
        with contextlib.suppress(DataError):
            is_graph(path)
            load_graph(path)


@pytest.mark.parametrize(
    "masks", [{"train_mask": np.arange(20) < 9}, {"train_mask": np.arange(20), "test_mask": np.arange(3)}]
)
def test_a_random_split_looks_at_no_mask(write, masks):
    expected = load_graph(write(), split="random")
    path = write(**masks)
    with pytest.raises(DataError, match="mask"):
        load_graph(path)
    assert load_graph(path, split="random").fingerprint == expected.fingerprint


@pytest.mark.parametrize("key", ["edge_weight", "edge_attr"])
def test_weights_of_edges_that_are_left_out_are_noted_unless_all_are_one(write, key):
    expected = load_graph(write())
    ones = load_graph(write(**{key: np.ones((40, 1))}))
    other = load_graph(write(**{key: np.linspace(0, 1, 40)}))
    assert ones.notes == expected.notes
    assert any(key in note and "left out" in note for note in other.notes)
    assert ones.fingerprint == other.fingerprint == expected.fingerprint
