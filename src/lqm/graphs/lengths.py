"""How long the features of condensed nodes are, beside those of the real nodes that they stand for."""

from collections.abc import Sequence

from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.evaluation.evaluator import Lengths
from lqm.graphs.graph import Graph, as_graph
from lqm.graphs.population import Population, row_lengths
from lqm.graphs.propagation import propagate
from lqm.graphs.sources.source import GraphSource


def node_lengths(condensed: CondensedNodes, source: GraphSource | None) -> list[Lengths]:
    """By class, the norms of propagated features: of the set's nodes, and of the real training nodes."""
    if source is None:
        return _beside(condensed, None)
    norms = _propagated_norms(source.graph, _hops(condensed))
    return _beside(condensed, [float(norms[nodes].mean()) for nodes in source.by_class])


def lengths_beside(condensed: CondensedNodes, real: Population) -> list[Lengths]:
    """The same, beside a population."""
    return _beside(condensed, [float(lengths.mean()) for lengths in real.lengths])


def _beside(condensed: CondensedNodes, real: Sequence[float] | None) -> list[Lengths]:
    own = _propagated_norms(as_graph(condensed), _hops(condensed))
    means = [None] * len(condensed.class_names) if real is None else real
    return [
        Lengths(name, own[condensed.labels == label], mean)
        for label, (name, mean) in enumerate(zip(condensed.class_names, means, strict=True))
    ]


def _hops(condensed: CondensedNodes) -> int:
    return int(condensed.manifest.get("settings", {}).get("hops", 1))


def _propagated_norms(graph: Graph, hops: int) -> Tensor:
    return row_lengths(propagate(graph.features, graph.adjacency, hops))
