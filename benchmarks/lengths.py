"""CaT by lengths and rate, on validation nodes: python -m benchmarks.lengths GRAPH ... --out runs/lengths.

Each cell is a condensation to 1 %, judged by two GCNs on the validation nodes, so that defaults can be chosen
without a look at test nodes. What is finished in the folder is not condensed again.
"""

from pathlib import Path
from statistics import fmean
from typing import Annotated

import torch
import tyro
from torch import Tensor

import lqm
from lqm.engine.randomness import seeded
from lqm.graphs.baselines import baseline
from lqm.graphs.graph import dense
from lqm.graphs.networks import Inputs, make_network
from lqm.graphs.population import population, row_lengths
from lqm.graphs.sources import GraphSource
from lqm.graphs.training import TrainingSet, accuracy, adam, train

_WAYS = (("free", 0.01), ("real", 0.001), ("real", 0.003), ("real", 0.01))
_BASELINES = ("random-raw", "random", "herding-raw", "herding")
_LARGE, _REAL_BATCH = 15_000, 256


def main(
    graphs: Annotated[tuple[str, ...], tyro.conf.Positional],
    /,
    *,
    out: Path,
    seeds: int = 2,
    steps: int = 300,
    distances: tuple[str, ...] = ("lqm", "mean"),
) -> None:
    """Print a table of each graph.

    Args:
        graphs: as `lqm condense` takes them.
        out: folder of the runs.
        seeds: condensations of each way.
        steps: of each condensation.
        distances: what is matched.
    """
    for name in graphs:
        source = lqm.load_graph(name, split="random")
        inputs = Inputs(source.graph.features, source.graph.adjacency, torch.device("cpu"))
        real = population(source.graph, source.by_class, source.class_names, 1)
        lengths = torch.stack([own.mean() for own in real.lengths])
        print(f"\n{source.name}\n\n| set | accuracy % | rescaled | times too long |\n|---|---:|---:|---:|")
        for distance in distances:
            for way, rate in _WAYS:
                found = []
                for seed in range(seeds):
                    condensed = lqm.condense(
                        source,
                        distance=distance,
                        seed=seed,
                        out=out / source.name / f"{distance}-{way}-{rate}-{seed}",
                        settings={
                            "lengths": way,
                            "learning_rate": rate,
                            "steps": steps,
                            "real_batch": _REAL_BATCH if source.graph.nodes > _LARGE else 0,
                        },
                        show_progress=False,
                    )
                    features, labels = condensed.features, condensed.labels
                    own = row_lengths(features)
                    brought_back = features * (lengths[labels] / own.clamp_min(1e-12))[:, None]
                    found.append(
                        (
                            100 * judged(source, inputs, features, labels, seed, source.validation),
                            100 * judged(source, inputs, brought_back, labels, seed, source.validation),
                            float((own / lengths[labels]).mean()),
                        )
                    )
                cells = " | ".join(f"{fmean(column):.1f}" for column in zip(*found, strict=True))
                print(f"| {distance}, {way} at rate {rate:g} | {cells} |", flush=True)
        counts = labels.bincount(minlength=len(source.class_names)).tolist()
        for rule in _BASELINES:
            sets = [(seed, baseline(rule, source, counts, seed)(0)) for seed in range(seeds)]
            scores = [
                judged(source, inputs, dense(nodes.features), nodes.labels, seed, source.validation)
                for seed, nodes in sets
            ]
            print(f"| {rule} | {100 * fmean(scores):.1f} | | |", flush=True)


def judged(
    source: GraphSource,
    inputs: Inputs,
    features: Tensor,
    labels: Tensor,
    seed: int,
    on: Tensor,
    networks: int = 2,
) -> float:
    """The accuracy on some real nodes of GCNs that were trained on nodes without edges."""
    nodes = TrainingSet(Inputs(features, None, inputs.device), torch.arange(len(labels)), labels)
    found = []
    for index in range(networks):
        with seeded(seed, "judge", index):
            network = make_network("gcn", source.graph.width, len(source.class_names))
            train(network, adam(network, 0.01, 5e-4), nodes, epochs=200)
        found.append(accuracy(network, inputs, on, source.graph.labels[on]))
    return fmean(found)


if __name__ == "__main__":
    tyro.cli(main)
