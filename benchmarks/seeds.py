"""Distances over several seeds, as a Markdown table: python -m benchmarks.seeds --out runs/seeds.

Each seed is a condensation of its own, judged by networks of its own; the spread is the deviation over
seeds. What is finished in the folder is not done again.
"""

from pathlib import Path
from statistics import fmean, stdev

import torch
import tyro

import lqm
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol, random_pictures, score
from lqm.images.sources import load_source

Numbers = tuple[float, float, float]


def main(
    out: Path,
    source: str = "digits",
    per_class: tuple[int, ...] = (1, 10),
    distances: tuple[str, ...] = ("mean", "lqm"),
    seeds: int = 5,
    protocol: str = "quick-200",
) -> None:
    rules = PROTOCOLS[protocol]
    print("| per class | training set | accuracy % | CvM before training | extremes % before training |")
    print("|---:|---|---:|---:|---:|")
    for count in per_class:
        rows = {"random real": [_random(source, count, seed, rules) for seed in range(seeds)]}
        for distance in distances:
            rows[f"by {distance}"] = [
                _condensed(source, distance, count, seed, rules, out / f"{count}-{distance}-{seed}")
                for seed in range(seeds)
            ]
        for name, found in rows.items():
            accuracies, statistics, extremes = zip(*found, strict=True)
            cells = (
                f"{100 * fmean(accuracies):.1f} ± {100 * stdev(accuracies):.1f}",
                f"{fmean(statistics):.3f} ± {stdev(statistics):.3f}",
                f"{100 * fmean(extremes):.2f} ± {100 * stdev(extremes):.2f}",
            )
            print(f"| {count} | {name} | {' | '.join(cells)} |", flush=True)


def _random(source: str, count: int, seed: int, rules: EvaluationProtocol) -> Numbers:
    data = load_source(source)
    found = score(
        lambda j: random_pictures(data, count, seed, j), data, rules, seed=seed, device=torch.device("cpu")
    )
    return found.accuracy, found.before.cramer_von_mises, found.before.extremes


def _condensed(
    source: str, distance: str, count: int, seed: int, rules: EvaluationProtocol, folder: Path
) -> Numbers:
    small = lqm.condense(source, distance=distance, per_class=count, seed=seed, out=folder)
    for known in small.manifest.get("scores", []):
        if known["protocol"]["name"] == rules.name and known["seed"] == seed:
            return known["accuracy"], known["before"]["cramer_von_mises"], known["before"]["extremes"]
    found = lqm.evaluate(small, protocol=rules.name, seed=seed).score
    return found.accuracy, found.before.cramer_von_mises, found.before.extremes


if __name__ == "__main__":
    tyro.cli(main)
