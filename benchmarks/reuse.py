"""How often to reuse a view of the real images: accuracy for equal work, on held-out training images.

    LQM_DATA=... python -m benchmarks.reuse --out runs/reuse --method dm --per-class 10

Every choice of (real images a class, reuse, window) gets as many steps as the same work allows, counted in
images that go through a network (those with gradients three times); all else is the recipe's for two cores.
A fifth of the training images is the judge; the test images are never looked at. What is finished in the
folder is not done again.
"""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import fmean

import torch
import tyro

import lqm
from lqm.distances import DISTANCES
from lqm.images.evaluation import PROTOCOLS, score
from lqm.images.methods import METHODS
from lqm.images.sources import Images, ImageSource
from lqm.recipes import fitting_recipe

_CPU = torch.device("cpu")


def main(
    out: Path,
    source: str = "cifar10",
    method: str = "dm",
    distance: str = "lqm",
    per_class: int = 10,
    work: tuple[int, ...] = (400_000,),
    choices: tuple[tuple[int, int, int], ...] = ((64, 1, 1), (64, 5, 10), (256, 5, 10), (256, 10, 50)),
    learning_rates: tuple[float, ...] = (3.0, 10.0, 30.0),
    seeds: tuple[int, ...] = (0,),
    networks: int = 2,
) -> None:
    data = _held_out(lqm.load_source(source))
    recipe = fitting_recipe(data.recipes, method, per_class, cpu=True)
    rules = replace(PROTOCOLS["quick-200"], networks=networks)
    for amount, (real_batch, reuse, window), rate in product(work, choices, learning_rates):
        options = {"real_batch": real_batch, "reuse": reuse, "window": window, "learning_rate": rate}
        settings = {**recipe.settings, **options}
        kind = METHODS[method]
        learner = kind(data, DISTANCES[distance], per_class, 0, kind.Settings(**settings), _CPU)
        settings["steps"] = round(amount / learner.images_seen)
        found, seconds = [], []
        for seed in seeds:
            name = f"{method}-{per_class}-{real_batch}-{reuse}-{window}-{rate:g}-{seed}"
            condensed = lqm.condense(
                data,
                method=method,
                distance=distance,
                per_class=per_class,
                seed=seed,
                settings=settings,
                out=out / name,
                show_progress=False,
            )
            records = Images(*condensed.records())
            judged = score(lambda j, r=records: r, data, rules, seed=seed, device=_CPU)
            found.append(100 * judged.accuracy)
            seconds.append(condensed.manifest["seconds"])
        row = {
            "method": method,
            "per_class": per_class,
            "work": amount,
            "steps": settings["steps"],
            **options,
        }
        print(json.dumps({**row, "accuracy": fmean(found), "each": found, "seconds": seconds}), flush=True)


def _held_out(source: ImageSource) -> ImageSource:
    """The same source with every fifth training image to judge by, and the others to condense."""
    images, labels = source.train.images, source.train.labels
    judging = torch.arange(len(labels)) % 5 == 4
    learning, validation = (Images(images[part], labels[part]) for part in (~judging, judging))
    return replace(source, name=f"{source.name}-validation", train=learning, test=validation, origin=None)


if __name__ == "__main__":
    tyro.cli(main)
