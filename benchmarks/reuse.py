"""How often to reuse a view of the real pictures: accuracy for equal work, on held-out training pictures.

    LQM_DATA=... python -m benchmarks.reuse --out runs/reuse

Every choice of (real pictures a class, reuse, window) gets as many steps as the same work allows, counted in
pictures that go through a network (those with gradients three times). A fifth of the training pictures is the
judge; the test pictures are never looked at. What is finished in the folder is not done again.
"""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import torch
import tyro

import lqm
from lqm.images.evaluation import PROTOCOLS, score
from lqm.images.sources import ImageSource, Pictures

CHOICES = ((64, 1, 1), (64, 5, 10), (64, 5, 50), (256, 1, 1), (256, 5, 1), (256, 5, 10), (256, 5, 50))
CHOICES += ((256, 10, 10), (256, 10, 50), (256, 20, 50))


def main(
    out: Path,
    source: str = "cifar10",
    method: str = "dm",
    distance: str = "lqm",
    per_class: int = 10,
    work: tuple[int, ...] = (200_000, 600_000),
    choices: tuple[tuple[int, int, int], ...] = CHOICES,
    seeds: tuple[int, ...] = (0,),
    networks: int = 3,
    network: str = "convnet:width=32",
    learning_rates: tuple[float, ...] = (10.0,),
) -> None:
    data = _held_out(lqm.load_source(source))
    rules = replace(PROTOCOLS["quick-200"], networks=networks)
    for amount in work:
        for (real_batch, reuse, window), rate in product(choices, learning_rates):
            steps = round(amount / (len(data.class_names) * (real_batch / reuse + 3 * per_class)))
            options = {"steps": steps, "real_batch": real_batch, "reuse": reuse, "window": window}
            found, seconds = [], []
            for seed in seeds:
                small = lqm.condense(
                    data,
                    method=method,
                    distance=distance,
                    per_class=per_class,
                    seed=seed,
                    settings={**options, "network": network, "learning_rate": rate},
                    out=out / f"{method}-{per_class}-{real_batch}-{reuse}-{window}-{rate:g}-{seed}",
                    show_progress=False,
                )
                records = Pictures(*small.records())
                judged = score(lambda j, r=records: r, data, rules, seed=seed, device=torch.device("cpu"))
                found.append(100 * judged.accuracy)
                seconds.append(small.manifest["seconds"])
            row = {"work": amount, "rate": rate, **options}
            print(
                json.dumps({**row, "accuracy": fmean(found), "each": found, "seconds": seconds}), flush=True
            )


def _held_out(source: ImageSource) -> ImageSource:
    """The same source with every fifth training picture to judge by, and the others to condense."""
    images, labels = source.train.images, source.train.labels
    judging = torch.arange(len(labels)) % 5 == 4
    learning, validation = (Pictures(images[part], labels[part]) for part in (~judging, judging))
    return replace(source, name=f"{source.name}-validation", train=learning, test=validation, origin=None)


if __name__ == "__main__":
    tyro.cli(main)
