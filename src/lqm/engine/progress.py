"""What a person sees while something goes on: a bar at a terminal or in a notebook, else plain lines."""

import math
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from statistics import fmean
from types import TracebackType
from typing import Any

from rich import progress
from rich.console import Console
from rich.text import Text

from lqm.engine.forecast import Forecast
from lqm.engine.notebook import NotebookBar, notebook_shell
from lqm.utils.log import write_line
from lqm.utils.stop_requests import answer
from lqm.utils.streams import unfailing_error
from lqm.utils.terminal import visible

_SECONDS_BETWEEN_LINES = 5.0
STOPPING = "stopping after this step; a second signal ends it at once"

# What an evaluation along the way found: accuracy, deviation (None of one network), protocol, and more; its
# step where there are several.
Evaluated = Mapping[str, Any]


def last_and_best(evaluations: Sequence[Evaluated]) -> str:
    """The last of the evaluations along the way in words and, apart from it, the best so far.

    Example:
        >>> found = [{"step": 10, "accuracy": 0.5, "deviation": None}]
        >>> last_and_best([*found, {"step": 20, "accuracy": 0.4, "deviation": 0.01}])
        '40.0 % ± 1.0 at step 20; best so far 50.0 % at step 10'
    """
    last, best = evaluations[-1], max(evaluations, key=lambda found: found["accuracy"])
    beyond = "" if last["deviation"] is None else f" ± {100 * last['deviation']:.1f}"
    words = f"{100 * last['accuracy']:.1f} %{beyond} at step {last['step']}"
    if best["accuracy"] > last["accuracy"]:
        words += f"; best so far {100 * best['accuracy']:.1f} % at step {best['step']}"
    return words


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
        self.bar.add_task("", total=total, completed=done, metrics="", cached=False)
        (self.task,) = self.bar.tasks

    def update(self, done: int, metrics: str = "", *, cached: bool = False) -> None:
        """So many steps are done; with a step that was cached, the rate is measured anew."""
        change = self.bar.reset if cached else self.bar.update
        change(self.task.id, completed=done, metrics=metrics, cached=cached)

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
        steps = self.task.time_remaining if self.task.remaining else 0.0
        if steps is None:
            return "?"
        return timedelta(seconds=round(steps + self._pauses_left * fmean(self._pauses or [0.0])))


def rate_text(rate: float, each: str = "step") -> str:
    """So many steps a second, or the seconds of a step if there are fewer.

    Example:
        >>> rate_text(12.34), rate_text(0.4), rate_text(0.004, "network"), rate_text(0.0)
        ('12.3/s', '2.5 s/step', '250 s/network', '?/s')
    """
    if not rate:
        return "?/s"
    return f"{rate:.1f}/s" if rate >= 1 else f"{_in_two_digits(1 / rate)} s/{each}"


def _in_two_digits(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds < 9.95 else f"{seconds:,.0f}"


class _Rate(progress.ProgressColumn):
    """Steps a second, for which rich has no column."""

    def __init__(self, each: str) -> None:
        super().__init__()
        self._each = each

    def render(self, task: progress.Task) -> Text:
        """The rate of a task, or that its last step was cached."""
        return Text("cached" if task.fields["cached"] else rate_text(task.speed or 0.0, self._each))


class Progress:
    """Follows `total` steps, of which `done` were made before; use it in a `with` block.

    Args:
        what: the title.
        total: of the steps.
        done: how many of them were made before.
        shown: whether to show anything.
        forecast: tells what all of it will take; one of time and memory if it is not given.
        each: what a step is called where it takes seconds.
    """

    def __init__(
        self,
        what: str,
        total: int,
        done: int = 0,
        *,
        shown: bool = True,
        forecast: Forecast | None = None,
        each: str = "step",
    ) -> None:
        self._what, self._total, self._shown = what, total, shown
        self._done, self._numbers = done, ""
        self._forecast = forecast or Forecast(total, done)
        console, live = console_for(shown=shown)
        shell = notebook_shell() if shown and not live else None
        self._notebook = NotebookBar(visible(what), total, shell) if shell else None
        self._plain = shown and not live and not shell
        self._rate = _Rate(each)
        steps = (
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            self._rate,
            progress.TimeRemainingColumn(),
        )
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
        if self._notebook:
            self._notebook.update(self._done, self._pace.left, self._numbers, at_once=True)

    def update(self, done: int, metrics: Mapping[str, float], *, cached: bool = False) -> None:
        """Show that `done` steps of the total are made, the last of them perhaps earlier, and `cached`."""
        numbers = "  ".join(f"{visible(name)} {value:.4g}" for name, value in metrics.items())
        self._pace.update(done, numbers, cached=cached)
        self._done, self._numbers = done, numbers
        if self._notebook:
            self._notebook.update(done, self._pace.left, numbers)
        if cached:
            self._forecast.begin(done)
        else:
            self._forecast.tell(done, self._say, shown=self._shown)
        now = time.monotonic()
        if self._plain and (now - self._said >= _SECONDS_BETWEEN_LINES or done == self._total):
            self._said = now
            rate = self._rate.render(self._pace.task)
            self._say(f"{done}/{self._total}  {rate}  {self._pace.left} left  {numbers}")

    def evaluating(self, step: int) -> None:
        """An evaluation begins after so many steps."""
        self._pace.pause()

    def evaluated(self, evaluations: Sequence[Evaluated], left: int) -> None:
        """One more has ended, and so many are still to come."""
        self._pace.go_on(left)
        if self._plain:
            self._say(f"evaluated by {evaluations[-1]['protocol']}: {last_and_best(evaluations)}")

    def stopping(self) -> None:
        """A request to stop has arrived, in a signal handler."""
        answer(STOPPING)

    def _say(self, line: str) -> None:
        write_line(f"{self._what}: {line}", sys.stderr)
