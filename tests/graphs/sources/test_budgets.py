"""Graphs that claim more than a machine has: refused by a sentence, with little memory taken."""

import gzip
import os
import pickle
import struct
import time
import tracemalloc

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, csr_matrix

from lqm.graphs.graph import as_graph, dense
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.edges import clean_edges
from lqm.graphs.sources.features import FEATURES, clean_features
from lqm.graphs.sources.labels import clean_labels
from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to

LIMIT = 20 * 2**20


def refused(make, limit=LIMIT):
    """The sentence about what is refused with less memory than the limit."""
    with limited_to(limit):
        tracemalloc.start()
        try:
            with pytest.raises(DataError) as caught:
                make()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 2 * limit
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def planetoid(tmp_path, random):
    one_hot = np.eye(2)[np.arange(20) % 2]
    features = csr_matrix(random.random((20, 3), dtype=np.float32))
    parts = {"allx": features, "tx": features, "y": one_hot[:4], "ally": one_hot, "ty": one_hot}
    graph = {node: [(node + 1) % 40] for node in range(40)}

    def make(**replaced):
        for name, value in ({**parts, "graph": graph} | replaced).items():
            content = value if isinstance(value, bytes) else pickle.dumps(value, 2)
            (tmp_path / f"ind.cora.{name}").write_bytes(content)
        (tmp_path / "ind.cora.test.index").write_text("\n".join(str(node) for node in range(20, 40)))
        return tmp_path

    return make


@pytest.mark.parametrize("node", [4 * 10**8, 10**9, 2**63 - 1])
def test_far_nodes_of_planetoid(planetoid, node):
    folder = planetoid(graph={0: [1], node: [0]})
    assert "ind.cora.graph" in refused(lambda: load_graph(folder))
    planetoid()
    (folder / "ind.cora.test.index").write_text("\n".join(str(n) for n in [*range(20, 39), node]))
    assert "test.index" in refused(lambda: load_graph(folder))


@pytest.mark.parametrize("shape", [(10**9, 10**9), (20, 10**9), (2**70, 3), (-1, 3), "ab", None])
def test_shapes_of_planetoid(planetoid, shape):
    matrices = {name: csr_matrix(np.ones((20, 3), np.float32)) for name in ("allx", "tx")}
    for matrix in matrices.values():
        matrix._shape = shape
    assert refused(lambda: load_graph(planetoid(**matrices)))


def test_neighbours_that_many_nodes_share_in_planetoid(planetoid):
    shared = b"\x80\x02](" + b"K\x01" * 10_000 + b"eq\x00"
    table = b"}(" + b"".join(b"M" + struct.pack("<H", node) + b"h\x00" for node in range(5000)) + b"u."
    assert "ind.cora.graph" in refused(lambda: load_graph(planetoid(graph=shared + table)))


def test_a_long_list_of_test_nodes(planetoid):
    folder = planetoid()
    (folder / "ind.cora.test.index").write_text("20 " * 500_000)
    assert "test.index" in refused(lambda: load_graph(folder))


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 1))


@pytest.fixture
def ogb(tmp_path):
    root = tmp_path / "ogbn"
    write(root / "raw/edge.csv.gz", "".join(f"{node},{(node + 1) % 20}\n" for node in range(20)))
    write(root / "raw/node-feat.csv.gz", "".join(f"{node},1\n" for node in range(20)))
    write(root / "raw/node-label.csv.gz", "".join(f"{node % 2}\n" for node in range(20)))
    write(root / "raw/num-node-list.csv.gz", "20\n")
    return root


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("raw/num-node-list.csv.gz", "-1\n", "20 labels"),
        ("raw/num-node-list.csv.gz", f"{10**18}\n", "20 labels"),
        ("raw/num-node-list.csv.gz", "1e18\n", "CSV"),
        ("raw/num-node-list.csv.gz", f"{10**30}\n", "CSV"),
        ("raw/num-node-list.csv.gz", '""\n', "CSV"),
        ("raw/edge.csv.gz", "0,1\n" * 3_000_000, "edge.csv.gz"),
        ("raw/edge.csv.gz", "0,\n1,2\n", "empty"),
        ("raw/node-label.csv.gz", "1\n" * 3_000_000, "node-label.csv.gz"),
        ("raw/node-feat.csv.gz", "1,2\n" * 3_000_000, "node-feat.csv.gz"),
        ("raw/node-feat.csv.gz", "1," * 100_000 + "1\n", "100,001 columns"),
        ("split/a/train.csv.gz", "1\n" * 3_000_000, "train.csv.gz"),
        ("mapping/labelidx2name.csv.gz", "a,b\n" + "0,a\n" * 2_000_000, "labelidx2name"),
        ("mapping/labelidx2name.csv.gz", "a,b\ninf,a\n", "labelidx2name"),
        ("mapping/labelidx2name.csv.gz", f"{',' * 100_000}\n" * 2, "100,001 columns"),
    ],
)
def test_tables_of_ogb(ogb, file, text, sentence):
    for part in ("train", "valid", "test"):
        write(ogb / f"split/a/{part}.csv.gz", "0\n1\n")
    write(ogb / file, text)
    assert sentence in refused(lambda: load_graph(ogb, show_progress=False))


def test_classes_of_ogb_may_be_any_numbers(ogb):
    write(ogb / "raw/node-label.csv.gz", "".join(f"{(node % 2) * 1_999_999_999}\n" for node in range(20)))
    write(ogb / "mapping/labelidx2name.csv.gz", "number,name\n1999999999,bee\n")
    with limited_to(LIMIT):
        assert load_graph(ogb, show_progress=False).class_names == ("0", "bee")


def test_sparse_features_are_not_made_dense_beyond_the_limit():
    wide = csr_array((10_000, 10_000), dtype=np.float32)
    assert "10,000 features" in refused(lambda: dense(wide))
    assert "10,000,000 features" in refused(
        lambda: clean_features(csr_array((20, 10**7), dtype=np.float32), 20, "it")
    )


def test_features_that_grow_when_they_are_floats():
    small = np.broadcast_to(np.zeros(1, np.uint8), (3_000_000, 2))
    assert "features of it" in refused(lambda: clean_features(small, 3_000_000, "it"))


def test_edges_and_labels_that_grow_when_they_are_sorted():
    ends = np.broadcast_to(np.zeros(1, np.int8), (2, 500_000))
    assert "500,000 edges" in refused(lambda: clean_edges(ends, 3, "it"))
    labels = np.broadcast_to(np.zeros(1, np.int8), (500_000,))
    assert "500,000 nodes" in refused(lambda: clean_labels(labels, None, "it"))


def test_made_features_are_asked_for_first():
    adjacency = csr_array((20_000, 20_000), dtype=np.float32)
    assert "spectral" in refused(lambda: FEATURES["spectral"](adjacency, "it"))


@pytest.mark.parametrize(
    "options", ["nodes=1000000000", "nodes=1000000,features=1000000", "nodes=100000,degree=99999"]
)
def test_graphs_that_are_drawn(options):
    assert "synthetic graph" in refused(lambda: load_graph(f"synthetic:{options}", show_progress=False))


def test_edges_of_a_condensed_set_are_between_its_nodes():
    class Nodes:
        features, labels = torch.ones(3, 2), torch.tensor([0, 1, 1])

    for edges in ([[0, 3], [1, 1]], [[0, -1], [1, 1]], [[0.5], [1.0]], [0, 1]):
        Nodes.edges = torch.tensor(edges)
        with pytest.raises(DataError, match="edges of the condensed set"):
            as_graph(Nodes)
    Nodes.edges = torch.tensor([[0, 2], [1, 1]])
    assert as_graph(Nodes).edges == 2


@pytest.mark.parametrize("name", ["raw/edge.csv.gz", "raw/node-label.csv.gz", "split/a/valid.csv.gz"])
def test_a_pipe_among_the_files_is_not_waited_for(ogb, name):
    for part in ("train", "valid", "test"):
        write(ogb / f"split/a/{part}.csv.gz", "0\n1\n")
    (ogb / name).unlink()
    os.mkfifo(ogb / name)
    with pytest.raises(DataError):
        load_graph(ogb, show_progress=False)


@pytest.mark.parametrize("part", ["graph", "allx", "test.index"])
def test_a_pipe_among_the_files_of_planetoid_is_not_waited_for(planetoid, part):
    folder = planetoid()
    (folder / f"ind.cora.{part}").unlink()
    os.mkfifo(folder / f"ind.cora.{part}")
    with pytest.raises(DataError):
        load_graph(folder)


def test_classes_that_are_nearly_as_many_as_the_nodes():
    with limited_to("50MB"):
        assert "20,000 classes" in refused(lambda: clean_labels(np.arange(60_000) // 3, None, "'ids'"))


def test_names_that_many_classes_share_are_told_apart_quickly():
    names = [f"{number // 2}" for number in range(40_000)]
    began = time.monotonic()
    _, named, _ = clean_labels(np.arange(40_000), names, "'pairs'")
    assert len(set(named)) == 40_000
    assert time.monotonic() - began < 3
