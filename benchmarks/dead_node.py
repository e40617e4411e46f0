"""What a synthetic node without features costs: python -m benchmarks.dead_node GRAPH ...

Of CaT's set of 1 % of a graph, one node of the largest class is set to 0; a GCN is trained on the set before
and after, and tested on the test nodes.
"""

from typing import Annotated

import torch
import tyro

import lqm
from benchmarks.lengths import judged
from lqm.evaluation.spread import Spread
from lqm.graphs.networks import Inputs


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
            before.append(judged(source, inputs, features, labels, seed, source.test, networks=1))
            features[(labels == labels.bincount().argmax()).nonzero()[0, 0]] = 0
            after.append(judged(source, inputs, features, labels, seed, source.test, networks=1))
        each = ", ".join(f"{100 * (b - a):.1f}" for a, b in zip(before, after, strict=True))
        cells = [Spread(tuple(values)).shown(1, 100) for values in (before, after)]
        print(f"| {source.name} | {' | '.join(cells)} | {each} |", flush=True)


if __name__ == "__main__":
    tyro.cli(main)
