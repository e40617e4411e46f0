"""What a person sees while something goes on: a bar on a terminal, a plain line now and then elsewhere."""

import math
import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from statistics import fmean
from types import TracebackType
from typing import Any

from rich import progress
from rich.console import Console
from rich.text import Text

from lqm.engine.forecast import Forecast
from lqm.utils.log import write_line
from lqm.utils.streams import unfailing_error
from lqm.utils.terminal import visible

_SECONDS_BETWEEN_LINES = 5.0

# What an evaluation along the way found: accuracy, deviation (None of one network), protocol, and more.
Evaluated = Mapping[str, Any]


def console_for(*, shown: bool) -> tuple[Console, bool]:
    """Where progress goes, and whether it may be drawn over again and again there."""
    console = Console(file=unfailing_error())
    return console, shown and console.is_terminal and not console.is_dumb_terminal


class Pace:
    """rich's bar of `total` steps, of which `done` were made before: their rate, and the time that is left.

    The first step, which may have compiled, counts for neither. Pauses, in which no step is made, count for
    the time but not for the rate.
    """

    def __init__(self, total: int, done: int = 0, *columns: progress.ProgressColumn, **options: Any) -> None:
        self._began = time.monotonic()
        self._pauses: list[float] = []
        self._pauses_left = 0
        options |= {"get_time": lambda: time.monotonic() - sum(self._pauses)}
        self.bar = progress.Progress(*columns, speed_estimate_period=math.inf, **options)
        self.bar.add_task("", total=total, completed=done, metrics="")
        (self.task,) = self.bar.tasks

    def update(self, done: int, metrics: str = "") -> None:
        """So many steps are done."""
        self.bar.update(self.task.id, completed=done, metrics=metrics)

    def pause(self) -> None:
        """No step is made from now on."""
        self._paused_at = time.monotonic()

    def go_on(self, pauses_left: int) -> None:
        """A pause is over, and so many are still to come."""
        self._pauses.append(time.monotonic() - self._paused_at)
        self._pauses_left = pauses_left

    @property
    def rate(self) -> float:
        """Steps a second; 0 if that is not known yet."""
        return self.task.speed or 0.0

    @property
    def elapsed(self) -> timedelta:
        """Since it began, pauses included."""
        return timedelta(seconds=round(time.monotonic() - self._began))

    @property
    def left(self) -> timedelta | str:
        """Steps at the present rate, and pauses as long as those so far; a question mark if there is none."""
        if (steps := self.task.time_remaining) is None:
            return "?"
        return timedelta(seconds=round(steps + self._pauses_left * fmean(self._pauses or [0.0])))


class _Rate(progress.ProgressColumn):
    """Steps a second, for which rich has no column."""

    def render(self, task: progress.Task) -> Text:
        """The rate of a task."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "?/s")


class Progress:
    """Follows `total` steps, of which `done` were made before; use it in a `with` block.

    Args:
        what: the title.
        total: of the steps.
        done: how many of them were made before.
        shown: whether to show anything.
        forecast: tells what all of it will take; one of time and memory if it is not given.
    """

    def __init__(
        self, what: str, total: int, done: int = 0, *, shown: bool = True, forecast: Forecast | None = None
    ) -> None:
        self._what, self._total, self._shown = what, total, shown
        self._forecast = forecast or Forecast(total, done)
        console, live = console_for(shown=shown)
        self._plain = shown and not live
        steps = progress.BarColumn(), progress.MofNCompleteColumn(), _Rate(), progress.TimeRemainingColumn()
        title = progress.TextColumn("{task.description}", markup=False)
        metrics = progress.TextColumn("left  {task.fields[metrics]}", markup=False)
        self._pace = Pace(total, done, title, *steps, metrics, console=console, disable=not live)
        self._pace.task.description = visible(what)

    def __enter__(self) -> "Progress":
        self._said = time.monotonic()
        self._pace.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pace.bar.stop()

    def update(self, done: int, metrics: Mapping[str, float]) -> None:
        """Show that `done` steps of the total are made."""
        numbers = "  ".join(f"{visible(name)} {value:.4g}" for name, value in metrics.items())
        self._pace.update(done, numbers)
        if self._shown and (line := self._forecast.after(done)):
            self._say(line)
        now = time.monotonic()
        if self._plain and (now - self._said >= _SECONDS_BETWEEN_LINES or done == self._total):
            self._said = now
            rate = f"{self._pace.rate:.1f}/s" if self._pace.rate else "?/s"
            self._say(f"{done}/{self._total}  {rate}  {self._pace.left} left  {numbers}")

    def evaluating(self, step: int) -> None:
        """An evaluation begins after so many steps."""
        self._pace.pause()

    def evaluated(self, step: int, found: Evaluated, left: int) -> None:
        """It has ended, and so many are still to come."""
        self._pace.go_on(left)
        if self._plain:
            beyond = "" if found["deviation"] is None else f" ± {found['deviation']:.3f}"
            self._say(
                f"evaluated at step {step}: accuracy {found['accuracy']:.3f}{beyond} ({found['protocol']})"
            )

    def _say(self, line: str) -> None:
        write_line(f"{self._what}: {line}", sys.stderr)
