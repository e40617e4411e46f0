"""Sets of real nodes that a condensed set is compared with."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch

from lqm.evaluation.scores import for_each_network
from lqm.graphs.graph import Graph, undirected
from lqm.graphs.population import NodeFeatures, chosen_features, population
from lqm.graphs.sources.source import GraphSource

_RULES = ("random", "herding", "k-centre")
_RAW = "-raw"
BASELINES = (*_RULES, "full")
RAW_BASELINES = tuple(rule + _RAW for rule in _RULES)


def baseline(name: str, source: GraphSource, counts: Sequence[int], seed: int) -> Callable[[int], Graph]:
    """The nodes that network j is trained on: other random ones for each network, else always the same.

    `full` is the whole graph with its training nodes; else `counts` nodes of each class, without edges. They
    have their propagated features, as a network sees them that is tested with message passing; those of a
    name that ends in `-raw` have their own.
    """
    if name == "full":
        labels = torch.full_like(source.graph.labels, -1)
        labels[source.train] = source.graph.labels[source.train]
        whole = replace(source.graph, labels=labels)
        return lambda j: whole
    real = population(source.graph, source.by_class, source.class_names, hops=1)
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    nowhere = torch.zeros(0, dtype=torch.int64).numpy()
    edges = undirected(nowhere, nowhere, len(labels))
    rule = name.removesuffix(_RAW)
    features: NodeFeatures = "own" if name.endswith(_RAW) else "propagated"

    def chosen(j: int) -> Graph:
        return Graph(chosen_features(rule, real, counts, seed, j, features=features), edges, labels)

    return for_each_network(rule, chosen)
