"""Methods and distances over several seeds, as a Markdown table: python -m benchmarks.seeds --out runs/seeds.

Each seed is a condensation of its own, judged by networks of its own; the spread is the standard deviation
over seeds. What is finished in the folder, and every network that was trained, is not done again.
"""

from dataclasses import replace
from itertools import product
from pathlib import Path

import torch
import tyro

import lqm
from lqm.evaluation.scores import Score
from lqm.evaluation.spread import Spread
from lqm.images.evaluation import PROTOCOLS, score
from lqm.images.sources import Images


def main(
    out: Path,
    source: str = "digits",
    per_class: tuple[int, ...] = (1, 10),
    methods: tuple[str, ...] = ("dm", "datadam", "idm"),
    distances: tuple[str, ...] = ("mean", "lqm"),
    baselines: tuple[str, ...] = ("random", "herding"),
    seeds: int = 5,
    networks: int = 4,
) -> None:
    data = lqm.load_source(source)
    rules = replace(PROTOCOLS["quick-200"], networks=networks)
    print(f"{rules}; {seeds} seeds\n")
    print("| per class | method | distance | accuracy % | CvM before training | extremes % before training |")
    print("|---:|---|---|---:|---:|---:|")
    kinds = [*((name, None) for name in baselines), *product(methods, distances)]
    for count, (method, distance) in product(per_class, kinds):
        found = []
        for seed in range(seeds):
            folder = out / f"{method}-{distance}-{count}-{seed}"
            condensed = lqm.condense(
                data, method=method, distance=distance, per_class=count, seed=seed, out=folder
            )
            records = Images(*condensed.records())
            found.append(score(lambda j, r=records: r, data, rules, seed=seed, device=torch.device("cpu")))
        print(f"| {count} | {method} | {distance or '-'} | {_numbers(found)} |", flush=True)


def _numbers(found: list[Score]) -> str:
    def cell(values: list[float], scale: float, digits: int) -> str:
        return Spread(tuple(values)).shown(digits, scale)

    return " | ".join(
        (
            cell([score.accuracy for score in found], 100, 1),
            cell([score.before.cramer_von_mises for score in found], 1, 3),
            cell([score.before.extremes for score in found], 100, 2),
        )
    )


if __name__ == "__main__":
    tyro.cli(main)
