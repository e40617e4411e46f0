"""`lqm condense`: learn a condensed set, or several of them one after another."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.api.requests import CondenseRequest, Name, Number
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.cli.lists import Run, runs_of
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.log import say, warn

if TYPE_CHECKING:
    from lqm.condensed import CondensedSet


@dataclass(frozen=True, kw_only=True)
class Condense(CondenseRequest):
    """Learn a small synthetic set of images or nodes; a stopped run goes on.

    Example: lqm condense digits --per-class 10 --out runs/digits

    Attributes:
        per_class: Synthetic images a class (default 10); 1,10: two runs.
        budget: Synthetic nodes or their share (default 1%); 1%,5%: two.
        init: The first set: random, noise, herding, k-centre, k-means.
        real_batch: Real records a class in a step; 0: all nodes of a graph.
        set_: A setting of the method, such as steps=500 or network=convnet:width=64;
            repeat it for more. docs/methods.md and docs/graphs.md list them.
        seed: Everything random follows from it; 0..4 makes five runs.
    """

    per_class: Annotated[str | None, tyro.conf.arg(metavar="N,...", help_behavior_hint="")] = None  # type: ignore[assignment]
    budget: Annotated[str | None, tyro.conf.arg(metavar="N|N%,...", help_behavior_hint="")] = None
    init: Annotated[Name, tyro.conf.arg(aliases=("--start",))] = None
    real_batch: Number = None
    set_: Assignments = ()
    seed: Annotated[str, tyro.conf.arg(metavar="N,...")] = "0"  # type: ignore[assignment]

    def __call__(self) -> None:
        """Make all the runs."""
        runs = runs_of(self.per_class, self.budget, self.seed)
        if self.recipe not in (None, "paper") and len({run.per_class for run in runs}) > 1:
            raise ConfigError(
                f"recipe '{self.recipe}' is for one per_class, not for {self.per_class}; leave one out"
            )
        words = (
            self.method,
            str(self.distance) if self.distance else None,
            "by-sketch" if self.sketch else None,
        )
        folder = Path(self.out) if self.out else run_folder(str(self.source), *words)
        if len(runs) == 1:
            self._make(runs[0], folder)
            say(f"next: lqm evaluate {quote(str(folder))}")
        else:
            self._make_several(runs, folder)

    def _make(self, run: Run, folder: Path) -> "CondensedSet":
        """One run."""
        from lqm.api.condense import run_condensation

        shared = {field.name: getattr(self, field.name) for field in fields(CondenseRequest)}
        request = replace(
            CondenseRequest(**shared),
            per_class=run.per_class,
            budget=run.budget,
            seed=run.seed,
            out=folder,
            settings=settings_of(self.set_, init=self.init, real_batch=self.real_batch),
        )
        condensed = run_condensation(request)
        _describe(condensed, folder)
        return condensed

    def _make_several(self, runs: list[Run], out: Path) -> None:
        """Make each run in a folder of its own below `out`, and list them.

        Those that have begun come first and then the largest, so that a folder with other settings, or a
        budget that the source or the sketch is too small for, is refused before the long work.
        """
        from rich.console import Console

        from lqm.report.tables import plain_table

        if (out / "run.json").exists():
            raise ArtifactError(f"{out} holds a single run or a sketch; choose another folder for several")
        largest = sorted(runs, key=lambda run: run.size, reverse=True)
        ordered = sorted(largest, key=lambda run: not (out / run.name / "run.json").exists())
        made = {}
        for number, run in enumerate(ordered, start=1):
            warn(f"run {number} of {len(runs)}: {out / run.name}")
            made[run] = self._make(run, out / run.name).manifest
        size = "per_class" if "per_class" in made[runs[0]] else "budget"
        rows = [
            (run.name, str(made[run][size]), str(run.seed), f"{made[run]['seconds']:,.0f}") for run in runs
        ]
        Console().print(plain_table(("folder", size.replace("_", " "), "seed", "seconds"), rows))
        say(f"{len(runs)} runs in {out}")
        first = quote(str(out / runs[0].name))
        say(f"next: lqm evaluate {first} and so on, then lqm compare {quote(str(out))}/*")


def _describe(condensed: "CondensedSet", folder: Path) -> None:
    """Print what was made, and draw it if it is images."""
    from lqm.condensed import CondensedImages
    from lqm.condensed.sheet import contact_sheet

    classes = len(condensed.class_names)
    if isinstance(condensed, CondensedImages):
        sheet = folder / "images.png"
        contact_sheet(condensed, sheet)
        say(f"{len(condensed.labels)} images of {classes} classes in {folder}; they look like {sheet}")
    else:
        say(f"{len(condensed.labels)} nodes of {classes} classes in {folder}")
