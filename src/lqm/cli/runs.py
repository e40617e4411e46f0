"""What runs there are, and how far they have come."""

from pathlib import Path
from typing import Annotated

import tyro

from lqm.utils.log import say

_PROBLEMS = 3


def runs(
    folder: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="DIR")] = Path("runs"),
    /,
) -> None:
    """List runs, the newest first, with state, score and age.

    Example: lqm runs runs/many

    Args:
        folder: Where to look, in all folders below it too.
    """
    from rich.console import Console

    from lqm.api.runs import find_runs
    from lqm.report.run_table import runs_table

    found = find_runs(folder)
    table, width = runs_table(found, Console())
    Console(width=width).print(table)
    problems = [run.problem for run in found if run.problem]
    for problem in problems[:_PROBLEMS]:
        say(f"broken: {problem}")
    if len(problems) > _PROBLEMS:
        say(f"and {len(problems) - _PROBLEMS} more that are broken")
