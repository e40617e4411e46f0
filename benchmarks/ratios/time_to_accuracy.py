"""What accuracy is reached in how many seconds: by the field's loops, ours, from a sketch, under experts.

    LQM_DATA=... OMP_NUM_THREADS=1 python -m benchmarks.ratios.time_to_accuracy --out runs/time

Seconds are those of the processor, so of one core where there is one thread.

They condense in processes of their own, a few seconds each in turn, so that whatever else the machine
does hits all of them. Their images at each mark are judged afterwards, by the same networks, on the test
images.
"""

import contextlib
import itertools
import json
import time
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import matplotlib as mpl
import torch
import tyro
from matplotlib import pyplot
from safetensors.torch import load_file

import lqm
from benchmarks.ratios.time_worker import WAYS, Task
from benchmarks.ratios.timing import Worker
from lqm.engine.randomness import generator
from lqm.images.evaluation import PROTOCOLS, EvaluationProtocol, fresh_network
from lqm.images.sources import Images, ImageSource
from lqm.images.training import predict, train

_COLOURS = dict(zip(WAYS, ("#999999", "#0072b2", "#d55e00", "#555555", "#009e73"), strict=True))


def main(
    out: Path,
    source: str = "cifar10",
    distance: str = "lqm",
    per_class: tuple[int, ...] = (1, 10),
    seeds: int = 2,
    marks: tuple[float, ...] = (5, 10, 20, 40, 80),
    networks: int = 2,
    encoders: int = 300,
    real_batch: int = 256,
    ways: tuple[str, ...] = ("plain", "ours", "sketch"),
) -> None:
    data = lqm.load_source(source)
    out.mkdir(parents=True, exist_ok=True)
    if "sketch" in ways:
        began = time.process_time()
        lqm.sketch(
            data, out=out / "sketch", encoders=encoders, max_per_class=max(per_class), real_batch=real_batch
        )
        print(f"what was missing of the sketch took {time.process_time() - began:.0f} s", flush=True)
    rules = replace(PROTOCOLS["quick-200"], networks=networks)
    rows: list[dict[str, Any]] = []
    for count in per_class:
        tasks = [
            [Task(str(out), way, source, distance, count, seed, marks) for way in ways]
            for seed in range(seeds)
        ]
        for of_seed in tasks:
            _condense(of_seed)
        for place, mark in [(0, 0.0), *itertools.product(range(len(ways)), marks)]:
            found = [_judge(of_seed[place], mark, data, rules) for of_seed in tasks]
            way, spread = tasks[0][place].way, stdev(found) if seeds > 1 else 0.0
            rows.append({"per_class": count, "way": way, "seconds": mark, "accuracies": found})
            name = WAYS[way] if mark else f"{WAYS[way]}: its init"
            print(f"| {count} | {name} | {mark:g} | {fmean(found):.1f} ± {spread:.1f} |", flush=True)
    (out / "time.json").write_text(json.dumps(rows, indent=2))
    draw(rows, out / "time.png")


def _condense(tasks: list[Task]) -> None:
    """Let all ways go on in turn until each has passed its last mark; what is there is not done again."""
    left = [task for task in tasks if not task.images(task.marks[-1]).exists()]
    with contextlib.ExitStack() as stack:
        workers = {task.way: stack.enter_context(Worker(task.command)) for task in left}
        while left:
            left = [task for task in left if workers[task.way].step() < task.marks[-1]]


def _judge(task: Task, mark: float, data: ImageSource, rules: EvaluationProtocol) -> float:
    """Mean test accuracy in percent of the protocol's networks, as `lqm evaluate` trains them."""
    images = load_file(task.images(mark))["images"]
    labels = torch.arange(len(data.class_names)).repeat_interleave(images.shape[1])
    condensed = Images(images.flatten(0, 1), labels)
    found = []
    for index in range(rules.networks):
        network = fresh_network(data, rules.network, task.seed, index)
        train(
            network,
            condensed,
            data,
            epochs=rules.epochs,
            learning_rate=rules.learning_rate,
            momentum=rules.momentum,
            weight_decay=rules.weight_decay,
            batch=rules.batch,
            draws=generator(task.seed, "evaluation batches", index),
        )
        found.append(100 * (predict(network, data) == data.test.labels).double().mean().item())
    return fmean(found)


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Accuracy against seconds, a panel for each budget."""
    mpl.use("Agg")
    budgets = sorted({row["per_class"] for row in rows})
    figure, axes = pyplot.subplots(1, len(budgets), figsize=(4.5 * len(budgets), 4.2), squeeze=False)
    for axis, budget in zip(axes[0], budgets, strict=True):
        for way, name in WAYS.items():
            own = [row for row in rows if row["way"] == way and row["per_class"] == budget and row["seconds"]]
            if not own:
                continue
            means = [fmean(row["accuracies"]) for row in own]
            spreads = [stdev(row["accuracies"]) if len(row["accuracies"]) > 1 else 0.0 for row in own]
            seconds = [row["seconds"] for row in own]
            axis.errorbar(seconds, means, spreads, label=name, color=_COLOURS[way], marker="o", capsize=3)
        axis.set(xscale="log", xlabel="seconds of the processor", ylabel="test accuracy %")
        marks = sorted({row["seconds"] for row in rows if row["seconds"]})
        axis.set_xticks(marks, [f"{mark:g}" for mark in marks])
        axis.minorticks_off()
        axis.set_title(f"{budget} a class")
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    tyro.cli(main)
