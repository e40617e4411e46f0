"""Published counts of real graphs, where they are at hand: LQM_DATA with graphs/*.npz in it."""

import os
from pathlib import Path

import pytest

from lqm.graphs.sources import load_graph

# Nodes, undirected edges, features and classes.
COUNTS = {
    "amazon_computers": (13752, 245861, 767, 10),
    "amazon_photo": (7650, 119081, 745, 8),
    "blogcatalog": (5196, 171743, 8189, 6),
    "coauthor_cs": (18333, 81894, 6805, 15),
    "coauthor_physics": (34493, 247962, 8415, 5),
    "cora": (2708, 5278, 1433, 7),
    "dblp": (17716, 52867, 1639, 4),
}
DATA = os.environ.get("LQM_DATA")


def real(name):
    path = Path(DATA or "", "graphs", f"{name}.npz")
    if not DATA or not path.is_file():
        pytest.skip(f"LQM_DATA names no folder with graphs/{name}.npz")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_the_published_ones(name):
    source = load_graph(real(name))
    graph = source.graph
    assert (graph.nodes, graph.edges, graph.width, len(source.class_names)) == COUNTS[name]


@pytest.mark.slow
def test_cora_has_its_published_split():
    source = load_graph(real("cora"))
    assert source.split == "published"
    assert [len(part) for part in (source.train, source.validation, source.test)] == [140, 500, 1000]


@pytest.mark.slow
def test_a_graph_without_features_gets_some():
    path = real("ogbn_arxiv_nofeat")
    source = load_graph(path, features="degree")
    assert (source.graph.nodes, source.graph.edges) == (169343, 1157799)
    assert [len(part) for part in (source.train, source.validation, source.test)] == [90941, 29799, 48603]
