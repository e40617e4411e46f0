"""How the memory of a step of trajectory matching grows with the steps of its student, in both ways.

Each point is a process of its own: one step of MTT on ten images of 3 x 32 x 32 under a ConvNet-3 of width
128, from weights that are random, since they do not change what it takes.
"""

import argparse
import sys
from types import SimpleNamespace
from typing import Any

import torch

from benchmarks.scale.child import run

WIDTH, CLASSES = 128, 10
WAYS = ("exact", "two-pass")


def step(way: str, student_steps: int) -> None:
    """One step; prints nothing."""
    from lqm.images.networks import make_network
    from lqm.methods.batch import Lesson
    from lqm.methods.objectives.trajectory import Stretch, TrajectoryMatching, all_weights

    torch.manual_seed(0)
    network = make_network(f"convnet:width={WIDTH}", (3, 32, 32), CLASSES)
    start = all_weights(network, dict(network.named_parameters())).detach()
    batches = [(torch.arange(CLASSES), lambda images: images)] * student_steps
    stretch = Stretch(start, start + 0.01 * torch.randn_like(start), batches)
    images = torch.randn(CLASSES, 3, 32, 32).requires_grad_()
    rate = torch.tensor([0.01]).requires_grad_()
    lesson = Lesson(images, range(CLASSES), [1] * CLASSES, torch.arange(CLASSES), rate)

    student: Any = SimpleNamespace(network=network)
    loss = TrajectoryMatching(two_pass=way == "two-pass").loss(student, stretch, lesson)
    loss.backward()


def main() -> None:
    """Print a table: a row a number of steps, a column a way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[5, 10, 20, 40, 80])
    parser.add_argument("--one", nargs=2, metavar=("WAY", "STEPS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        step(options.one[0], int(options.one[1]))
        return
    command = [sys.executable, "-m", "benchmarks.scale.trajectory_memory", "--one"]
    print("| student's steps | exact, MiB | two passes, MiB | exact, seconds | two passes, seconds |")
    print("|---:|---:|---:|---:|---:|")
    for steps in options.steps:
        costs = [run([*command, way, str(steps)]) for way in WAYS]
        peaks, seconds = [1024 * cost.peak for cost in costs], [cost.seconds for cost in costs]
        print(
            f"| {steps} | {peaks[0]:,.0f} | {peaks[1]:,.0f} | {seconds[0]:.0f} | {seconds[1]:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
