"""Runs as a table that fits the terminal."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from lqm.report.runs import RunRecord
from lqm.report.tables import percent, plain_table

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))
# All there is to say, and what is left of it, in this order, where a terminal is too narrow.
_LAYOUTS = (
    ("folder", "state", "method", "distance", "source", "size", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "size", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "accuracy %", "age"),
)


def runs_table(runs: Sequence[RunRecord], console: Console) -> tuple[Table, int]:
    """The widest table of runs that fits a terminal, or all there is to say elsewhere; and its width."""
    now = time.time()
    cells = [_cells(run, now) for run in runs]
    wide = console.options.update(max_width=10_000)
    for layout in _LAYOUTS:
        header = [name.replace("matching", "method") for name in layout]
        table = plain_table(header, [tuple(row[name] for name in layout) for row in cells])
        width = Measurement.get(console, wide, table).maximum
        if width <= console.width or not console.is_terminal:
            break
    return table, max(width, console.width)


def age_in_words(seconds: float) -> str:
    """How long ago, in the largest unit that is full.

    Example:
        >>> [age_in_words(seconds) for seconds in (5, 200, 7300, 500_000)]
        ['5 s', '3 min', '2 h', '5 d']
    """
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def _cells(run: RunRecord, now: float) -> dict[str, str]:
    accuracy = percent(run.accuracy) + ("" if run.deviation is None else f" ± {percent(run.deviation)}")
    return {
        "folder": str(run.folder),
        "state": run.state,
        "method": run.method,
        "distance": run.distance,
        "matching": run.method if run.distance == "-" else f"{run.method} + {run.distance}",
        "source": run.source,
        "size": run.size,
        "steps": run.steps,
        "accuracy %": accuracy,
        "age": age_in_words(now - run.changed),
    }
