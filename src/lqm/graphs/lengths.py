"""How long the features of condensed nodes are, beside those of the real nodes that they stand for."""

from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.evaluation.evaluator import Lengths
from lqm.graphs.graph import Graph, as_graph
from lqm.graphs.population import Population, row_lengths
from lqm.graphs.propagation import propagate
from lqm.graphs.sources.source import GraphSource


def node_lengths(condensed: CondensedNodes, source: GraphSource | None) -> list[Lengths]:
    """By class, the norms of propagated features: of the set's nodes, and of the real training nodes."""
    hops = int(condensed.manifest.get("settings", {}).get("hops", 1))
    own = _propagated_norms(as_graph(condensed), hops)
    real = _propagated_norms(source.graph, hops) if source else None
    return [
        Lengths(
            name,
            own[condensed.labels == label],
            None if real is None or source is None else float(real[source.by_class[label]].mean()),
        )
        for label, name in enumerate(condensed.class_names)
    ]


def lengths_beside(condensed: CondensedNodes, real: Population) -> list[Lengths]:
    """By class, the norms of the features of nodes without edges, and of real nodes after propagation."""
    own = row_lengths(condensed.features)
    return [
        Lengths(name, own[condensed.labels == label], float(real.lengths[label].mean()))
        for label, name in enumerate(real.class_names)
    ]


def _propagated_norms(graph: Graph, hops: int) -> Tensor:
    return row_lengths(propagate(graph.features, graph.adjacency, hops))
