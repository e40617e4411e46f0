"""Rates of a method on images, as a table: python -m benchmarks.rates SOURCE --out runs/rates --rates 2 5 10.

The images that the source calls test images should be some of the training images, held out: rates are chosen
by this table. What is finished in the folder is not done again.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated

import torch
import tyro

import lqm
from lqm.evaluation.spread import Spread
from lqm.images.evaluation import PROTOCOLS, score
from lqm.images.sources import Images


def main(
    source: Annotated[str, tyro.conf.Positional],
    /,
    *,
    out: Path,
    rates: tuple[float, ...] = (2.0, 5.0, 10.0),
    method: str = "dm",
    per_class: int = 10,
    distances: tuple[str, ...] = ("lqm", "mean"),
    seeds: int = 2,
    networks: int = 1,
    also: dict[str, str] = {},  # noqa: B006
) -> None:
    """Print the table.

    Args:
        source: as `lqm condense` takes it.
        out: folder of the runs.
        rates: learning rates of the images.
        method: its recipe is that of the source.
        per_class: synthetic images of each class.
        distances: what is matched.
        seeds: condensations of each cell.
        networks: that judge each of them.
        also: settings of the method besides.
    """
    data = lqm.load_source(source)
    rules = replace(PROTOCOLS["quick-200"], networks=networks)
    print("| distance | rate | accuracy % | CvM before | extremes % before |\n|---|---:|---:|---:|---:|")
    for distance, rate in product(distances, rates):
        found = []
        for seed in range(seeds):
            condensed = lqm.condense(
                data,
                method=method,
                distance=distance,
                per_class=per_class,
                seed=seed,
                settings={"learning_rate": rate, **also},
                out=out / f"{method}-{distance}-{per_class}-{rate:g}-{seed}",
                show_progress=False,
            )
            records = Images(*condensed.records())
            found.append(score(lambda j, r=records: r, data, rules, seed=seed, device=torch.device("cpu")))
        columns = (
            Spread(tuple(one.accuracy for one in found)).shown(1, 100),
            Spread(tuple(one.before.cramer_von_mises for one in found)).shown(3, 1),
            Spread(tuple(one.before.extremes for one in found)).shown(2, 100),
        )
        print(f"| {distance} | {rate:g} | {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    tyro.cli(main)
