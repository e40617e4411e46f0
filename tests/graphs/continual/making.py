"""A small graph that can be learned in a second."""

from dataclasses import replace

import numpy as np
import torch

from lqm.api.continual import continual
from lqm.graphs.graph import Graph, undirected
from lqm.graphs.sources.features import degree_features
from lqm.graphs.sources.source import GraphSource

CPU = torch.device("cpu")
TINY = {"steps": 5, "width": 16, "classifier": "gcn:width=8:depth=2", "epochs": 8}
LEARNING = {"classifier": "gcn:width=8:depth=2", "epochs": 8}


def small_graph(classes=6, each=14, features=10, edges=240, seed=0, names=None):
    """Classes apart by their features; edges mostly inside a class; every class of a size of its own."""
    draws = np.random.default_rng(seed)
    labels = np.repeat(np.arange(classes), each + np.arange(classes))
    draws.shuffle(labels)
    centres = draws.normal(size=(classes, features))
    values = (centres[labels] + 0.5 * draws.normal(size=(len(labels), features))).astype(np.float32)
    pairs = draws.integers(0, len(labels), (2, 4 * edges))
    kept = (labels[pairs[0]] == labels[pairs[1]]) | (draws.random(4 * edges) < 0.1)
    adjacency = undirected(*pairs[:, kept][:, :edges], len(labels))
    graph = Graph(torch.from_numpy(values), adjacency, torch.from_numpy(labels))
    return as_source(graph, names or [f"class {c}" for c in range(classes)])


def run(source=None, **options):
    arguments = {"method": "cat", "budget": 5, "repeats": 1, "settings": TINY}
    arguments |= {"device": "cpu", "show_progress": False}
    return continual(source or small_graph(), **{**arguments, **options})


def same(one, two):
    """Whether two runs found the same matrices and memories, bit for bit."""
    assert one.matrices.nan_to_num(-1).equal(two.matrices.nan_to_num(-1))
    for before, after in zip(one.memories, two.memories, strict=True):
        for left, right in zip(before, after, strict=True):
            assert left.features.equal(right.features)
            assert left.labels.equal(right.labels)
            assert left.edges.equal(right.edges)


def degree_source(source):
    """The same graph as if it had come without features, and these had been made of its degrees."""
    graph = replace(source.graph, features=degree_features(source.graph.adjacency))
    return replace(source, graph=graph, made_features="degree")


def as_source(graph, names):
    nodes = (graph.labels >= 0).nonzero()[:, 0]
    none = nodes[:0]
    return GraphSource("small", graph, tuple(names), nodes, none, none)
