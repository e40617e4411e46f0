"""What a synthetic node without features costs: python -m benchmarks.sets.dead_node GRAPH ...

Of CaT's set of 1 % of a graph, one node of the largest class is set to 0; a GCN is trained on the set before
and after, and tested on the test nodes.
"""

from typing import Annotated

import torch
import tyro
from torch import Tensor

import lqm
from lqm.engine.randomness import seeded
from lqm.evaluation.spread import Spread
from lqm.graphs.networks import Inputs, make_network
from lqm.graphs.sources import GraphSource
from lqm.graphs.training import TrainingSet, accuracy, adam, train


def main(graphs: Annotated[tuple[str, ...], tyro.conf.Positional], /, *, seeds: int = 5) -> None:
    """Print a row for each graph.

    Args:
        graphs: as `lqm condense` takes them.
        seeds: condensations.
    """
    print("| graph | as it is | one node dead | difference, each seed |\n|---|---:|---:|---:|")
    for name in graphs:
        source = lqm.load_graph(name, split="random")
        inputs = Inputs(source.graph.features, source.graph.adjacency, torch.device("cpu"))
        before, after = [], []
        for seed in range(seeds):
            condensed = lqm.condense(source, seed=seed, show_progress=False)
            features, labels = condensed.features.clone(), condensed.labels
            before.append(_tested(source, inputs, features, labels, seed))
            features[(labels == labels.bincount().argmax()).nonzero()[0, 0]] = 0
            after.append(_tested(source, inputs, features, labels, seed))
        each = ", ".join(f"{100 * (b - a):.1f}" for a, b in zip(before, after, strict=True))
        cells = [Spread(tuple(values)).shown(1, 100) for values in (before, after)]
        print(f"| {source.name} | {' | '.join(cells)} | {each} |", flush=True)


def _tested(source: GraphSource, inputs: Inputs, features: Tensor, labels: Tensor, seed: int) -> float:
    """The accuracy on the test nodes of a GCN that was trained on nodes without edges."""
    nodes = TrainingSet(Inputs(features, None, inputs.device), torch.arange(len(labels)), labels)
    with seeded(seed, "judge", 0):
        network = make_network("gcn", source.graph.width, len(source.class_names))
        train(network, adam(network, 0.01, 5e-4), nodes, epochs=200)
    return accuracy(network, inputs, source.test, source.graph.labels[source.test])


if __name__ == "__main__":
    tyro.cli(main)
