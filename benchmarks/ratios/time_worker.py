"""One way to a condensed set, in a process of its own, a few seconds at a time; see time_to_accuracy."""

import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lqm

WAYS = {
    "plain": "DM, the field's loop",
    "ours": "DM, ours",
    "sketch": "DM, ours, from a sketch",
    "plain-idm": "IDM, the field's loop",
    "dance": "DANCE, ours, with the training of its experts",
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


def learner(task: Task) -> tuple[Callable[[int], object], Callable[[], Any], float]:
    """A method by its recipe for two cores, in the task's way.

    Gives one step, the images (or the cells of mosaics), normalised, and the seconds that are spent by then.
    """
    import torch

    from benchmarks.ratios.plain import PlainDM, PlainIDM
    from lqm.banks import Experts, Sketch
    from lqm.condensed.mosaic import expand
    from lqm.distances import DISTANCES
    from lqm.images.methods import METHODS
    from lqm.images.problem import ImageProblem
    from lqm.recipes import fitting_recipe
    from lqm.utils.settings import make_settings

    data = lqm.load_source(task.source, show_progress=False)
    name = {"plain-idm": "idm", "dance": "dance"}.get(task.way, "dm")
    spec, own = METHODS[name], fitting_recipe(data.recipes, name, task.per_class, cpu=True)
    settings = make_settings(spec.settings, own.settings)
    if task.way.startswith("plain"):
        method: Any = {"dm": PlainDM, "idm": PlainIDM}[name](
            data, task.distance, task.per_class, task.seed, settings
        )
        step, images, spent = method.step, lambda: method.images, 0.0
    else:
        bank, spent = Path(task.out) / f"experts-{task.source}-{task.seed}", 0.0
        if spec.experts:
            spent = _train_experts(data, spec.experts(settings), task.seed, bank)
        problem = ImageProblem(
            class_names=data.class_names,
            counts=(task.per_class,) * len(data.class_names),
            distance=DISTANCES[task.distance],
            seed=task.seed,
            device=torch.device("cpu"),
            sketch=Sketch(Path(task.out) / "sketch") if task.way == "sketch" else None,
            experts=lambda: Experts(bank),
            source=data,
        )
        ours = spec.build(problem, settings)
        step, images = ours.step, lambda: ours.synthetic.images
    mosaic = getattr(settings, "mosaic", 1)
    return step, lambda: torch.stack([expand(of_class, mosaic) for of_class in images()]), spent


def _train_experts(data: Any, needed: Any, seed: int, bank: Path) -> float:
    """Train what a method needs, once; gives the seconds that it took."""
    spent = bank.with_suffix(".json")
    if not spent.exists():
        if bank.exists():
            sys.exit(f"the training in {bank} was stopped, so that its seconds are not known; remove it")
        began = time.process_time()
        lqm.experts(
            data,
            out=bank,
            networks=needed.networks,
            epochs=needed.epochs,
            settings=asdict(needed.settings),
            seed=seed,
            show_progress=False,
        )
        spent.write_text(json.dumps(time.process_time() - began))
    return float(json.loads(spent.read_text()))


def main() -> None:
    task = Task(**json.loads(sys.argv[1]))
    if not task.way.startswith("plain"):
        lqm.tune_allocator()
    from safetensors.torch import save_file

    from lqm.images.sources import load_source

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    (step, images_now, spent), data = learner(task), load_source(task.source, show_progress=False)
    mean, std = (part.view(-1, 1, 1) for part in (data.mean, data.std))

    def save(mark: float) -> None:
        images = (images_now().detach() * std + mean).clamp(0, 1)
        save_file({"images": images}, task.images(mark))

    left = still_to_come(task.marks, spent, save)
    print("ready", file=answers, flush=True)
    _serve(step, save, left, answers, spent)


def still_to_come(marks: Sequence[float], spent: float, save: Callable[[float], None]) -> list[float]:
    """Save the init, also under the marks that are over before the first step; gives the other marks."""
    for mark in (0, *(mark for mark in marks if mark <= spent)):
        save(mark)
    return [mark for mark in marks if mark > spent]


def _serve(
    step: Callable[[int], object],
    save: Callable[[float], None],
    marks: list[float],
    answers: Any,
    seconds: float,
) -> None:
    """For each line that comes, go on for some seconds; answer with all seconds so far."""
    numbers = itertools.count()
    for _ in sys.stdin:
        end = seconds + _SLICE
        while seconds < end and marks:
            began = time.process_time()
            step(next(numbers))
            seconds += time.process_time() - began
            while marks and seconds >= marks[0]:
                save(marks.pop(0))
        print(seconds, file=answers, flush=True)


if __name__ == "__main__":
    main()
