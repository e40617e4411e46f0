"""How far a study has come: cells done, and the time that the others will take."""

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from lqm.engine.forecast import duration
from lqm.studies.cell import Cell
from lqm.studies.lines import CellLine
from lqm.utils.log import write_line

# Cells that share these take about as long.
_KIND = ("source", "method", "per_class", "budget")


class GridProgress:
    """Tells of each cell that begins or ends.

    Args:
        total: cells of the study.
        done: lines of those that ran before, whose times tell how long the others take.
        left: the cells that are still to run.
        shown: whether to show anything.
    """

    def __init__(self, total: int, done: Iterable[CellLine], left: Sequence[Cell], *, shown: bool) -> None:
        self._total, self._left, self._shown = total, {cell.name: cell for cell in left}, shown
        self._seconds: defaultdict[tuple[object, ...], list[float]] = defaultdict(list)
        for line in done:
            self._seconds[_kind(line)].append(_own_seconds(line))
        self._began, self._worked = time.monotonic(), 0.0

    def begins(self, cell: Cell) -> None:
        """A cell begins."""
        self._say(
            f"cell {self._total - len(self._left) + 1} of {self._total}: {cell.name}{self._time_left()}"
        )

    def finished(self, line: CellLine) -> None:
        """A cell has ended."""
        self._left.pop(line.cell, None)
        if line.state == "failed":
            self._say(f"{line.cell} failed: {line.sentence}")
            return
        self._seconds[_kind(line)].append(_own_seconds(line))
        self._worked += _own_seconds(line)
        accuracy = 100 * line.accuracy()
        done = self._total - len(self._left)
        self._say(f"{line.cell}: {accuracy:.1f} %; {done} of {self._total} cells are done{self._time_left()}")

    def _time_left(self) -> str:
        """By the times of cells of the same kind, else of all; several at a time go as fast as they went."""
        known = [seconds for own in self._seconds.values() for seconds in own]
        if not known or not self._left:
            return ""
        alone = sum(fmean(self._seconds.get(_kind(cell), known)) for cell in self._left.values())
        at_a_time = max(1.0, self._worked / (time.monotonic() - self._began))
        return f", about {duration(alone / at_a_time)} left"

    def _say(self, line: str) -> None:
        if self._shown:
            write_line(f"study: {line}", sys.stderr)


def _kind(cell: Cell | CellLine) -> tuple[object, ...]:
    return tuple(cell.axes.get(name) for name in _KIND)


def _own_seconds(line: CellLine) -> float:
    return line.seconds.get("condense", 0.0) + line.seconds.get("evaluate", 0.0)
