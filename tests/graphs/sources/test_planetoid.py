"""The raw files of Planetoid, made here as Python 2 and 3 write them; the oracle is PyG's reader."""

import os
import pickle
from collections import defaultdict

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_matrix
from torch_geometric.io import read_planetoid_data

from lqm.graphs.graph import dense
from lqm.graphs.sources import is_graph, load_graph
from lqm.utils.errors import DataError

KNOWN, TESTED, CLASSES = 520, 8, 3


def make(folder, random, name="cora", protocol=2, gaps=(), **replaced):
    """Files of 520 nodes and 8 test nodes, of which `gaps` are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = [node for node in range(KNOWN, KNOWN + TESTED) if node not in gaps]
    order = random.permutation(numbers)
    one_hot = np.eye(CLASSES, dtype=np.int32)
    allx = random_matrix(KNOWN, 6, 0.4, format="csr", dtype=np.float32, rng=random)
    ally = one_hot[np.arange(KNOWN) % CLASSES]
    graph = defaultdict(list)
    for first, second in random.integers(0, KNOWN + TESTED, (800, 2)).tolist():
        graph[first].append(second)
        graph[second].append(first)
    parts = {
        "x": allx[:6],
        "allx": allx,
        "tx": csr_matrix(random_matrix(len(order), 6, 0.4, format="csr", dtype=np.float32, rng=random)),
        "y": ally[:6],
        "ally": ally,
        "ty": one_hot[random.integers(0, CLASSES, len(order))],
        "graph": graph,
    }
    for part, value in (parts | replaced).items():
        (folder / f"ind.{name}.{part}").write_bytes(pickle.dumps(value, protocol))
    (folder / f"ind.{name}.test.index").write_text("".join(f"{number}\n" for number in order))
    return folder


@pytest.mark.parametrize("protocol", [0, 2, 4])
@pytest.mark.parametrize("gaps", [(), (523, 526)])
def test_files_are_read_as_pyg_does(tmp_path, random, protocol, gaps):
    folder = make(tmp_path / "raw", random, "citeseer", protocol, gaps)
    assert is_graph(folder)
    source = load_graph(folder)
    oracle = read_planetoid_data(str(folder), "citeseer")
    expected = np.zeros((KNOWN + TESTED,) * 2)
    expected[tuple(oracle.edge_index.numpy())] = 1
    np.fill_diagonal(expected, 0)
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    assert dense(source.graph.features).equal(oracle.x)
    labelled = [node for node in range(KNOWN + TESTED) if node not in gaps]
    assert source.graph.labels[labelled].equal(oracle.y[labelled])
    assert (source.graph.labels[list(gaps)] == -1).all()
    assert source.split == "published"
    assert source.train.equal(oracle.train_mask.nonzero().flatten())
    assert source.test.equal(oracle.test_mask.nonzero().flatten())
    assert source.validation.tolist() == list(range(6, 506))
    assert any("2 test nodes" in note for note in source.notes) == bool(gaps)


def test_one_of_several_graphs_is_named_by_its_file(tmp_path, random):
    make(tmp_path, random, "cora")
    make(tmp_path, random, "pubmed")
    assert is_graph(tmp_path)
    with pytest.raises(DataError, match=r"ind\.cora\.graph, ind\.pubmed\.graph.*path"):
        load_graph(tmp_path)
    assert load_graph(tmp_path / "ind.pubmed.graph").name == "pubmed"


def test_a_folder_with_raw_inside_is_one_too(tmp_path, random, monkeypatch):
    make(tmp_path / "cora" / "raw", random)
    assert load_graph(tmp_path / "cora").name == "cora"
    monkeypatch.chdir(tmp_path / "cora")
    assert load_graph(".").name == "cora"


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("part", ["allx", "ally", "graph"])
def test_a_program_is_refused_and_not_run(tmp_path, random, part):
    make(tmp_path, random, **{part: {"a": Malicious(tmp_path / "made")}})
    with pytest.raises(DataError, match="not run"):
        load_graph(tmp_path)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("allx", np.eye(520), "allx .*sparse matrix"),
        ("ally", [1, 2], "ally .*array of 0 and 1"),
        ("graph", [1, 2], "graph .*neighbours"),
        ("graph", {0: ["a"]}, "graph .*neighbours"),
        ("graph", {0: [999]}, r"\b999\b.*528 nodes"),
        ("ally", np.eye(3)[[0] * 519], "519 and 8.*ally and ty"),
        ("y", np.eye(3)[[0] * 521], "520 and 8 rows"),
        ("tx", csr_matrix(np.eye(8, 5, dtype=np.float32)), "again"),
    ],
)
def test_files_that_dont_go_together_are_refused(tmp_path, random, part, value, sentence):
    make(tmp_path, random, **{part: value})
    with pytest.raises(DataError, match=sentence):
        load_graph(tmp_path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a b", "test.index .*numbers of nodes"),
        ("", "0 in test.index"),
        ("\n".join(str(node) for node in range(8)), "first 520"),
        ("520\n" * 8, "once each"),
    ],
)
def test_a_list_of_test_nodes_that_cant_be_is_refused(tmp_path, random, content, sentence):
    (make(tmp_path, random) / "ind.cora.test.index").write_text(content)
    with pytest.raises(DataError, match=sentence):
        load_graph(tmp_path)


def test_a_missing_file_is_named(tmp_path, random):
    (make(tmp_path, random) / "ind.cora.tx").unlink()
    with pytest.raises(DataError, match=r"ind\.cora\.tx"):
        load_graph(tmp_path)


def test_a_sparse_matrix_without_its_pieces_is_refused(tmp_path, random):
    make(tmp_path, random)
    (tmp_path / "ind.cora.allx").write_bytes(b"cscipy.sparse.csr\ncsr_matrix\n)\x81}b.")
    with pytest.raises(DataError, match="data, indices or indptr"):
        load_graph(tmp_path)
