"""`lqm continual`: learn a stream of tasks of a graph."""

from dataclasses import dataclass, fields
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.api.engine_request import Name, Number
from lqm.api.requests import ContinualRequest
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.cli.output import WorkOutput
from lqm.utils.log import say

if TYPE_CHECKING:
    from lqm import ContinualResult
    from lqm.cli.documents import ContinualDocument


@dataclass(frozen=True, kw_only=True)
class Continual(WorkOutput, ContinualRequest):
    """Learn a graph's classes by tasks; see what is forgotten.

    Example: lqm continual digits-knn --budget 4

    Attributes:
        init: random, noise, herding, k-centre, k-means.
        real_batch: Real nodes a class in a step, else all of them.
        set_: A setting, such as steps=500 or epochs=200; repeat it for more. docs/graphs.md lists them.
    """

    init: Annotated[Name, tyro.conf.arg(aliases=("--start",), metavar="HOW")] = None
    real_batch: Number = None
    set_: Assignments = ()

    def __call__(self) -> None:
        """Learn the stream, and print its table."""
        from rich.console import Console

        from lqm.api.continual import learn_stream
        from lqm.report.continual import continual_table

        distance = str(self.distance) if self.distance else None
        words = "stream", self.method, distance
        folder = Path(self.out) if self.out else run_folder(str(self.source), *words)
        shared = {field.name: getattr(self, field.name) for field in fields(ContinualRequest)}
        settings = settings_of(self.set_, init=self.init, real_batch=self.real_batch)
        shared |= {"out": folder, "settings": settings, "show_progress": not self.quiet}
        request = ContinualRequest(**shared)
        if self.dry_run:
            from lqm.api.dry_run import dry_continual
            from lqm.cli.planned import print_plan

            print_plan(self, "continual", [(dry_continual(request), 1)])
            return
        found = learn_stream(request)
        if self.json:
            self.document(_document(found))
            self.hint(f"next: lqm report {quote(str(folder))}")
            return
        Console().print(continual_table(found))
        drawn = (folder / "accuracy-matrix.png").exists()
        there = ["all matrices", *["a heat map"] * drawn, *["what was kept"] * any(found.memories)]
        kept = " and ".join(filter(None, (", ".join(there[:-1]), there[-1])))
        hint = "" if self.quiet else f"; next: lqm report {quote(str(folder))}"
        say(f"{kept} are in {folder}{hint}")


def _document(found: "ContinualResult") -> "ContinualDocument":
    from lqm.cli.documents import ContinualDocument
    from lqm.cli.documents.base import entry
    from lqm.evaluation.labels import distance_of

    record, config = found.record(), found.config
    derived = {
        "command": "continual",
        "folder": str(found.path),
        "source": config["source"]["name"],
        "method": config["method"],
        "distance": distance_of(config),
        "budget": config["budget"],
        "memory_seconds": record["seconds"]["memory"],
        "learning_seconds": record["seconds"]["learning"],
    }
    return entry(ContinualDocument, record | derived)
