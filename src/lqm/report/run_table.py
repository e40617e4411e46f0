"""Runs as a table that fits the terminal."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from lqm.evaluation.spread import Spread
from lqm.report.tables import plain_table

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))
# All columns, and those that are left, in this order, where a terminal is too narrow.
_LAYOUTS = (
    ("folder", "state", "method", "distance", "source", "size", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "size", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "steps", "accuracy %", "age"),
    ("folder", "state", "matching", "source", "accuracy %", "age"),
)


@dataclass(frozen=True)
class RunSummary:
    """A run, a sketch, a stream of tasks or a saved set, as a row of the table.

    Attributes:
        state: `running` if a process writes there just now, `stopped`, `done`, or `broken` if what is there
            can't be read or was changed.
        changed: when something in the folder last changed, in seconds of the system's clock.
        size: records of each class, or of all.
        steps: made, and of how many if it has not ended; of a sketch, encoders.
        accuracy: by the set's own protocol, else by the first that evaluated it, or of the last evaluation
            along the way, over networks; of a stream, AA over repeats.
        problem: why it is broken.
    """

    folder: Path
    state: str
    changed: float
    method: str = "-"
    distance: str = "-"
    source: str = "-"
    size: str = "-"
    steps: str = "-"
    accuracy: Spread | None = None
    problem: str = ""


def runs_table(runs: Sequence[RunSummary], console: Console) -> tuple[Table, int]:
    """The widest table of runs that fits a terminal, or all columns elsewhere; and its width."""
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


def _cells(run: RunSummary, now: float) -> dict[str, str]:
    return {
        "folder": str(run.folder),
        "state": run.state,
        "method": run.method,
        "distance": run.distance,
        "matching": run.method if run.distance == "-" else f"{run.method} + {run.distance}",
        "source": run.source,
        "size": run.size,
        "steps": run.steps,
        "accuracy %": run.accuracy.percent() if run.accuracy else "-",
        "age": age_in_words(now - run.changed),
    }
