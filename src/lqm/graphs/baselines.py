"""Sets of real nodes that a condensed set is compared with."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from lqm.graphs.graph import Graph, undirected
from lqm.graphs.population import Population, chosen_features, population
from lqm.graphs.sources.source import GraphSource

BASELINES = ("random", "herding", "k-centre", "full")

Chooser = Callable[[int], Graph]


def baseline(name: str, source: GraphSource, counts: Sequence[int], seed: int) -> Chooser:
    """The nodes that network j is to be trained on: other random ones for each, else always the same.

    Args:
        name: one of `BASELINES`; `full` is the whole graph with its training nodes, the others are nodes with
            features of their own and without edges.
        source: has the nodes.
        counts: how many nodes of each class.
        seed: of the choice.
    """
    if name == "full":
        whole = _learned_from(source)
        return lambda j: whole
    real = population(source.graph, source.by_class, source.class_names, hops=1)
    if name == "random":
        return lambda j: _chosen(name, real, counts, seed, j)
    nodes = _chosen(name, real, counts, seed, 0)
    return lambda j: nodes


def _learned_from(source: GraphSource) -> Graph:
    """The whole graph, without the labels of all but the training nodes."""
    labels = torch.full_like(source.graph.labels, -1)
    labels[source.train] = source.graph.labels[source.train]
    return replace(source.graph, labels=labels)


def _chosen(rule: str, real: Population, counts: Sequence[int], seed: int, index: int) -> Graph:
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    nowhere = torch.zeros(0, dtype=torch.int64).numpy()
    features = chosen_features(rule, real, counts, seed, index)
    return Graph(features, undirected(nowhere, nowhere, len(labels)), labels)
