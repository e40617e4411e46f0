"""What a person sees while something goes on: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

_SECONDS_BETWEEN_LINES = 5.0

# What an evaluation along the way found: accuracy, deviation, the name of the protocol, and more to note.
Verdict = Mapping[str, Any]


def warn(message: str) -> None:
    """One line about something that the user should know."""
    print(f"lqm: {message}", file=sys.stderr, flush=True)


def console_for(*, shown: bool) -> tuple[Console, bool]:
    """Where progress goes, and whether it may be drawn over again and again there."""
    console = Console(stderr=True)
    return console, shown and console.is_terminal and not console.is_dumb_terminal


class Pace:
    """How fast `total` steps go, of which `done` were made before, and how long the rest will take.

    Pauses, in which no step is made, count for what is left but not for the rate.
    """

    def __init__(self, total: int, done: int = 0) -> None:
        self.total, self.done, self.rate = total, done, 0.0
        self._first, self._warm = done, False
        self._entered = self._began = time.monotonic()
        self._pauses: list[float] = []
        self._paused_at = 0.0
        self._pauses_left = 0

    def update(self, done: int) -> None:
        """So many steps are done."""
        now = time.monotonic()
        self.done = done
        self.rate = (done - self._first) / max(now - self._began, 1e-9)
        if not self._warm:
            # The first step may have compiled: the rate, and the time that is left, are those of the others.
            self._warm, self._began, self._first = True, now, done

    def pause(self) -> None:
        """No step is made from now on."""
        self._paused_at = time.monotonic()

    def go_on(self, pauses_left: int) -> None:
        """A pause is over, and so many are still to come."""
        seconds = time.monotonic() - self._paused_at
        self._began += seconds
        self._pauses.append(seconds)
        self._pauses_left = pauses_left

    @property
    def elapsed(self) -> timedelta:
        """Since it began, pauses included."""
        return timedelta(seconds=round(time.monotonic() - self._entered))

    @property
    def left(self) -> timedelta | str:
        """Steps at the present rate, and pauses as long as those so far; a question mark if there is none."""
        if not self.rate:
            return "?"
        pauses = self._pauses_left * sum(self._pauses) / max(len(self._pauses), 1)
        return timedelta(seconds=round((self.total - self.done) / self.rate + pauses))


class Progress:
    """Follows `total` steps, of which `done` were made before; use it in a `with` block."""

    def __init__(self, what: str, total: int, done: int = 0, *, shown: bool = True) -> None:
        self._what, self._total, self._first = what, total, done
        console, live = console_for(shown=shown)
        self._plain = shown and not live
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}"),
            console=console,
            disable=not live,
        )
        self._task = self._bar.add_task(what, total=total, completed=done, text="")

    def __enter__(self) -> "Progress":
        self._pace = Pace(self._total, self._first)
        self._said = time.monotonic()
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, done: int, metrics: Mapping[str, float]) -> None:
        """Show that `done` steps of the total are made."""
        self._pace.update(done)
        now = time.monotonic()
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        text = f"{self._pace.rate:.1f}/s  {self._pace.left} left  {numbers}"
        self._bar.update(self._task, completed=done, text=text)
        if self._plain and (now - self._said >= _SECONDS_BETWEEN_LINES or done == self._total):
            self._said = now
            self._say(f"{done}/{self._total}  {text}")

    def judging(self, step: int) -> None:
        """An evaluation begins after so many steps."""
        self._pace.pause()

    def judged(self, step: int, found: Verdict, left: int) -> None:
        """It has ended, and so many are still to come."""
        self._pace.go_on(left)
        if self._plain:
            self._say(
                f"evaluated at step {step}: accuracy {found['accuracy']:.3f} ± {found['deviation']:.3f} "
                f"({found['protocol']})"
            )

    def _say(self, line: str) -> None:
        print(f"{self._what}: {line}", file=sys.stderr, flush=True)
