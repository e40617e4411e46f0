"""Runs side by side."""

from pathlib import Path
from typing import Annotated

import tyro


def compare(
    runs: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")
    ],
    /,
) -> None:
    """Several runs in one table; those that differ by seed share a row.

    Example: lqm compare runs/mean runs/lqm

    Args:
        runs: Runs, or saved condensed sets.
    """
    from rich.console import Console

    import lqm
    from lqm.report.comparison import NOTE, comparison_tables

    if not runs:
        raise lqm.LqmError("there is nothing to compare; name two or more runs")
    for table in comparison_tables([lqm.load(run) for run in runs]):
        Console().print(table)
    Console().print(NOTE, highlight=False)
