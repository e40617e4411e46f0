"""`lqm condense`: learn a condensed set, or several of them one after another."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.api.engine_request import Name, Number
from lqm.api.requests import CondenseRequest
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.cli.lists import Run, runs_of
from lqm.cli.output import WorkOutput
from lqm.recipes import CALLED
from lqm.utils.errors import ArtifactError, ConfigError
from lqm.utils.log import say

if TYPE_CHECKING:
    from lqm.cli.documents.results import CondensedEntry
    from lqm.condensed import CondensedSet

SHEET = "images.png"


@dataclass(frozen=True, kw_only=True)
class Condense(WorkOutput, CondenseRequest):
    """Learn a small synthetic set of images, rows or nodes; a stopped run goes on.

    Example: lqm condense digits --per-class 10 --out runs/digits

    Attributes:
        per_class: Images or rows a class (default 10); 1,10: two runs.
        budget: Nodes, or their share (default 1%); 1%,5%: two.
        init: random, noise, herding, k-centre, k-means.
        real_batch: Real records a class in a step; 0: all nodes or rows.
        set_: A setting of the method, such as steps=500; repeat it for more.
            docs/methods.md and docs/graphs.md list them.
        seed: Of all that is random (default 0); 0..4: five.
    """

    per_class: Annotated[str | None, tyro.conf.arg(metavar="N,...", help_behavior_hint="")] = None  # type: ignore[assignment]
    budget: Annotated[str | None, tyro.conf.arg(metavar="N|N%,...", help_behavior_hint="")] = None
    init: Annotated[Name, tyro.conf.arg(aliases=("--start",), metavar="HOW")] = None
    real_batch: Number = None
    set_: Assignments = ()
    seed: Annotated[str, tyro.conf.arg(metavar="N,...", help_behavior_hint="")] = "0"  # type: ignore[assignment]

    def __call__(self) -> None:
        """Make all the runs."""
        runs = runs_of(self.per_class, self.budget, self.seed)
        if self.recipe not in (None, *CALLED) and len({run.per_class for run in runs}) > 1:
            raise ConfigError(
                f"recipe '{self.recipe}' is for one per_class, not for {self.per_class}; leave one out"
            )
        words = (
            self.method,
            str(self.distance) if self.distance else None,
            "by-sketch" if self.sketch else None,
        )
        folder = Path(self.out) if self.out else run_folder(str(self.source), *words)
        if self.dry_run:
            self._plan(runs, folder)
        elif len(runs) == 1:
            condensed = self._make(runs[0], folder)
            if self.json:
                self._document({folder: condensed})
            self.hint(f"next: lqm evaluate {quote(str(folder))}")
        else:
            self._make_several(runs, folder)

    def _plan(self, runs: list[Run], folder: Path) -> None:
        """Print what the runs would take; those that differ by their seed alone take as long."""
        from lqm.api.dry_run import dry_condense
        from lqm.cli.planned import print_plan

        alike: dict[Run, int] = {}
        for run in runs:
            first = next((other for other in alike if other[:2] == run[:2]), run)
            alike[first] = alike.get(first, 0) + 1
        several = len(runs) > 1
        places = {run: folder / run.name if several else folder for run in alike}
        print_plan(
            self,
            "condense",
            [(dry_condense(self._request(run, places[run])), count) for run, count in alike.items()],
        )

    def _document(self, made: "dict[Path, CondensedSet]") -> None:
        from lqm.cli.documents import CondenseDocument

        self.document(
            CondenseDocument(runs=[_entry(folder, condensed) for folder, condensed in made.items()])
        )

    def _request(self, run: Run, folder: Path) -> CondenseRequest:
        """One of the runs, as the library is asked for it."""
        shared = {field.name: getattr(self, field.name) for field in fields(CondenseRequest)}
        return replace(
            CondenseRequest(**shared),
            per_class=run.per_class,
            budget=run.budget,
            seed=run.seed,
            out=folder,
            settings=settings_of(self.set_, init=self.init, real_batch=self.real_batch),
            show_progress=not self.quiet,
        )

    def _make(self, run: Run, folder: Path) -> "CondensedSet":
        """One run."""
        from lqm.api.condense import run_condensation

        condensed = run_condensation(self._request(run, folder))
        _describe(condensed, folder, said=not self.json)
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
        sets = {}
        for number, run in enumerate(ordered, start=1):
            self.note(f"run {number} of {len(runs)}: {out / run.name}")
            sets[run] = self._make(run, out / run.name)
        if self.json:
            self._document({out / run.name: sets[run] for run in runs})
            return
        made = {run: condensed.manifest for run, condensed in sets.items()}
        size = "per_class" if "per_class" in made[runs[0]] else "budget"
        rows = [
            (run.name, str(made[run][size]), str(run.seed), f"{made[run]['seconds']:,.0f}") for run in runs
        ]
        Console().print(plain_table(("folder", size.replace("_", " "), "seed", "seconds"), rows))
        say(f"{len(runs)} runs in {out}")
        first = quote(str(out / runs[0].name))
        self.hint(f"next: lqm evaluate {first} and so on, then lqm compare {quote(str(out))}/*")


def _describe(condensed: "CondensedSet", folder: Path, *, said: bool) -> None:
    """Draw what was made if it is images, and print it if that is wanted."""
    from lqm.condensed import CondensedImages
    from lqm.condensed.described import records_of
    from lqm.condensed.sheet import contact_sheet

    classes = len(condensed.class_names)
    if isinstance(condensed, CondensedImages):
        sheet = folder / SHEET
        contact_sheet(condensed, sheet)
        line = f"{len(condensed.labels)} images of {classes} classes in {folder}; they look like {sheet}"
    else:
        line = f"{len(condensed.labels)} {records_of(condensed.manifest)} of {classes} classes in {folder}"
    if said:
        say(line)


def _entry(folder: Path, condensed: "CondensedSet") -> "CondensedEntry":
    from lqm.cli.documents.results import CondensedEntry
    from lqm.condensed import CondensedImages
    from lqm.evaluation.labels import distance_of

    known = condensed.manifest
    return CondensedEntry(
        folder=str(folder),
        source=known["source"]["name"],
        method=known["method"],
        distance=distance_of(known),
        per_class=known.get("per_class"),
        budget=known.get("budget"),
        records=len(condensed.labels),
        classes=len(condensed.class_names),
        seed=known["seed"],
        steps=known["steps"],
        recipe=known.get("recipe") or None,
        seconds=known["seconds"],
        peak_memory=known.get("peak_memory"),
        sheet=str(folder / SHEET) if isinstance(condensed, CondensedImages) else None,
    )
