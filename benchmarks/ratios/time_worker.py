"""One way to a condensed set, in a process of its own, a few seconds at a time; see time_to_accuracy."""

import itertools
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lqm

WAYS = {
    "plain": "the field's loop",
    "ours": "ours",
    "sketch": "ours, from a sketch",
}
_SLICE = 5.0


@dataclass(frozen=True)
class Task:
    """One way to one budget, until the last mark of seconds."""

    out: str
    way: str
    source: str
    distance: str
    per_class: int
    seed: int
    marks: tuple[float, ...]

    def images(self, mark: float) -> Path:
        """Where the images of a mark are."""
        return Path(self.out) / f"{self.way}-{self.per_class}-{self.seed}-{mark:g}.safetensors"

    @property
    def command(self) -> list[str]:
        """Starts the process that does it."""
        return [sys.executable, "-m", "benchmarks.ratios.time_worker", json.dumps(asdict(self))]


def learner(task: Task) -> tuple[Callable[[int], object], Callable[[], Any]]:
    """DM by the recipe for two cores, in the task's way: one step, and the images, normalised."""
    import torch

    from benchmarks.ratios.plain import PlainDM
    from lqm.banks import Sketch
    from lqm.distances import DISTANCES
    from lqm.images.methods import METHODS
    from lqm.images.methods.dm import DMSettings
    from lqm.images.problem import ImageProblem
    from lqm.recipes import fitting_recipe
    from lqm.utils.settings import make_settings

    data = lqm.load_source(task.source, show_progress=False)
    settings = make_settings(
        DMSettings, fitting_recipe(data.recipes, "dm", task.per_class, cpu=True).settings
    )
    if task.way == "plain":
        method = PlainDM(data, task.distance, task.per_class, task.seed, settings)
        return method.step, lambda: method.images
    problem = ImageProblem(
        class_names=data.class_names,
        counts=(task.per_class,) * len(data.class_names),
        distance=DISTANCES[task.distance],
        seed=task.seed,
        device=torch.device("cpu"),
        sketch=Sketch(Path(task.out) / "sketch") if task.way == "sketch" else None,
        source=data,
    )
    ours = METHODS["dm"].build(problem, settings)
    return ours.step, lambda: ours.synthetic.images


def main() -> None:
    task = Task(**json.loads(sys.argv[1]))
    if task.way != "plain":
        lqm.tune_allocator()
    from safetensors.torch import save_file

    from lqm.images.sources import load_source

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    (step, images_now), data = learner(task), load_source(task.source, show_progress=False)
    mean, std = (part.view(-1, 1, 1) for part in (data.mean, data.std))

    def save(mark: float) -> None:
        images = (images_now().detach() * std + mean).clamp(0, 1)
        save_file({"images": images}, task.images(mark))

    save(0)
    print("ready", file=answers, flush=True)
    _serve(step, save, list(task.marks), answers)


def _serve(
    step: Callable[[int], object], save: Callable[[float], None], marks: list[float], answers: Any
) -> None:
    """For each line that comes, go on for some seconds; answer with all seconds so far."""
    numbers, seconds = itertools.count(), 0.0
    for _ in sys.stdin:
        end = seconds + _SLICE
        while seconds < end and marks:
            began = time.perf_counter()
            step(next(numbers))
            seconds += time.perf_counter() - began
            while marks and seconds >= marks[0]:
                save(marks.pop(0))
        print(seconds, file=answers, flush=True)


if __name__ == "__main__":
    main()
