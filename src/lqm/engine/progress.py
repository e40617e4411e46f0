"""What a person sees while a run goes on: a bar on a terminal, a plain line now and then elsewhere."""

import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar

_SECONDS_BETWEEN_LINES = 5.0


def warn(message: str) -> None:
    """One line about something that the user should know."""
    print(f"lqm: {message}", file=sys.stderr, flush=True)


class Progress:
    """Follows `total` steps, of which `done` were made before; use it in a `with` block."""

    def __init__(self, what: str, total: int, done: int = 0, *, shown: bool = True) -> None:
        self._what, self._total, self._first, self._shown = what, total, done, shown
        self._warm = False
        self._console = Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[text]}"),
            console=self._console,
            disable=not (shown and self._console.is_terminal),
        )
        self._task = self._bar.add_task(what, total=total, completed=done, text="")

    def __enter__(self) -> "Progress":
        self._began = self._said = time.monotonic()
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def update(self, done: int, metrics: Mapping[str, float]) -> None:
        """Show that `done` steps of the total are made."""
        now = time.monotonic()
        rate = (done - self._first) / max(now - self._began, 1e-9)
        if not self._warm:
            # The first step may have compiled: the rate, and the time that is left, are those of the others.
            self._warm, self._began, self._first = True, now, done
        left = timedelta(seconds=round((self._total - done) / rate)) if rate else "?"
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        text = f"{rate:.1f}/s  {left} left  {numbers}"
        self._bar.update(self._task, completed=done, text=text)
        plain = self._shown and not self._console.is_terminal
        if plain and (now - self._said >= _SECONDS_BETWEEN_LINES or done == self._total):
            self._said = now
            print(f"{self._what}: {done}/{self._total}  {text}", file=sys.stderr, flush=True)
