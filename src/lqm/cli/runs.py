"""What runs there are, and how far they have come."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say

if TYPE_CHECKING:
    from lqm.cli.documents.listings import RunEntry
    from lqm.report.run_table import RunSummary

_PROBLEMS = 3


def runs(
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("runs"),
    /,
    *,
    output: Printed = USUAL,
) -> None:
    """List runs, the newest first, with state, score and age.

    Example: lqm runs runs/many

    Args:
        folder: Where to look, in all folders below it too.
        output: How it is printed.
    """
    from rich.console import Console

    from lqm.api.runs import find_runs
    from lqm.report.run_table import runs_table

    found = find_runs(folder)
    if output.json:
        from lqm.cli.documents import RunsDocument

        output.document(RunsDocument(runs=[_entry(run) for run in found]))
        return
    table, width = runs_table(found, Console())
    Console(width=width).print(table)
    problems = [run.problem for run in found if run.problem]
    for problem in problems[:_PROBLEMS]:
        say(f"broken: {problem}")
    if len(problems) > _PROBLEMS:
        say(f"and {len(problems) - _PROBLEMS} more that are broken")


def _entry(run: "RunSummary") -> "RunEntry":
    from lqm.cli.documents.base import SpreadEntry
    from lqm.cli.documents.listings import RunEntry

    known = {name: getattr(run, name) for name in ("method", "distance", "source", "size", "steps")}
    return RunEntry(
        folder=str(run.folder),
        state=run.state,
        changed=run.changed,
        accuracy=SpreadEntry.of(run.accuracy) if run.accuracy else None,
        problem=run.problem,
        **{name: None if word == "-" else word for name, word in known.items()},
    )
