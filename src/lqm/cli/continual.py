"""`lqm continual`: learn a stream of tasks of a graph."""

from dataclasses import dataclass, fields, replace
from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from lqm.api.requests import ContinualRequest, Name, Number
from lqm.cli.arguments import Assignments, run_folder, settings_of
from lqm.utils.log import say


@dataclass(frozen=True, kw_only=True)
class Continual(ContinualRequest):
    """Learn a graph's classes by tasks; see what is forgotten.

    Example: lqm continual digits-knn --budget 4

    Attributes:
        init: The first nodes: random, noise, herding, k-centre, k-means.
        real_batch: Real nodes of each class in a step, else all of them.
        set_: A setting, such as steps=500 or epochs=200; repeat it for more. docs/graphs.md lists them.
    """

    repeats: int = 5
    init: Annotated[Name, tyro.conf.arg(aliases=("--start",))] = None
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
        found = learn_stream(replace(ContinualRequest(**shared), out=folder, settings=settings))
        Console().print(continual_table(found))
        kept = ", a heat map and what was kept" if any(found.memories) else " and a heat map"
        say(f"all matrices{kept} are in {folder}; next: lqm report {quote(str(folder))}")
