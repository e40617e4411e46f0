"""What long work will take, from its first pieces: time, the most memory, and room on the disk."""

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import torch

from lqm.utils.allocator import release_memory
from lqm.utils.limits import size_text
from lqm.utils.log import warn

# The first piece may compile. So many more and so many seconds are measured, or a single one that takes long.
_PIECES, _SECONDS, _LONG_PIECE = 3, 5.0, 30.0
# Work that takes less of everything needs no forecast.
_LONG, _LARGE = 60.0, 2**30
_HOUR = 3600.0
# What makes each kind of work shorter.
SHORTER = {
    "condense": "fewer steps, a smaller network or a smaller real_batch make it shorter",
    "sketch": "fewer --encoders, a smaller --real-batch or a smaller network make it shorter",
    "experts": "fewer --networks or --epochs, or a smaller network, make it shorter",
    "continual": "fewer --repeats, steps or epochs make it shorter",
    "evaluate": "fewer --repeats, --networks or --baselines, or a shorter --protocol, make it shorter",
    "study": "more --jobs, or --only with fewer values of an axis, make it shorter",
}


class Forecast:
    """Says once, early in the work, what all of it will take.

    Args:
        total: pieces of the work, such as steps.
        done: how many were made before.
        disk: gives the bytes that the work leaves on the disk in the end.
        beside: gives the bytes of memory that saving takes besides what a piece takes.
        shorter: what would make it shorter, for a warning above an hour.
    """

    def __init__(
        self,
        total: int,
        done: int = 0,
        *,
        disk: Callable[[], int] | None = None,
        beside: Callable[[], int] | None = None,
        shorter: str = "",
    ) -> None:
        self._total, self._disk, self._beside = total, disk, beside
        self._said = False
        self._shorter, self._seconds = shorter, 0.0
        self.begin(done)

    def begin(self, done: int) -> None:
        """Measure from here on, where so many pieces are there already."""
        self._done, self._began = done, time.monotonic()
        self._first: tuple[float, int] | None = None

    def tell(self, done: int, say: Callable[[str], None], *, shown: bool = True) -> None:
        """Say that sentence where anything is shown, and warn of more than an hour in any case."""
        if (line := self.after(done)) is None:
            return
        if shown:
            say(line)
        if warning := hours_warning(self._seconds, self._shorter):
            warn(warning)

    def after(self, done: int) -> str | None:
        """A sentence after some pieces, if they are enough to tell, and the work is long or large."""
        if self._said:
            return None
        now = time.monotonic()
        began, before = self._first or (self._began, self._done)
        self._first = self._first or (now, done)
        pieces, seconds = done - before, now - began
        enough = before > self._done and pieces >= _PIECES and seconds >= _SECONDS
        if not pieces or not (enough or seconds >= _LONG_PIECE):
            return None
        self._said = True
        self._seconds = whole = now - self._began + (self._total - done) * seconds / pieces
        memory = peak_memory() + (self._beside() if self._beside else 0)
        if whole < _LONG and memory < _LARGE:
            return None
        room = f" and {size_text(self._disk())} on the disk" if self._disk else ""
        return f"about {duration(whole)} in all, with {size_text(memory)} of memory at most{room}"


def hours_warning(seconds: float, shorter: str = "") -> str | None:
    """A warning of work that takes above an hour, with what would make it shorter.

    Example:
        >>> hours_warning(9000, "fewer steps make it shorter")
        'warning: this takes about 2.5 h; fewer steps make it shorter'
    """
    if seconds <= _HOUR:
        return None
    return f"warning: this takes about {duration(seconds)}" + (f"; {shorter}" if shorter else "")


def begin_peak() -> None:
    """Let `peak_memory` count from here on, as far as the system can."""
    gc.collect()
    release_memory()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")
    if torch.cuda.is_initialized():
        for number in range(torch.cuda.device_count()):
            torch.cuda.reset_peak_memory_stats(number)


def peak_memory() -> int:
    """The most memory that this process has had, on a GPU too if it uses one, in bytes."""
    peak = psutil.Process().memory_info().rss
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        peak = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        pass
    if torch.cuda.is_initialized():
        peak += sum(torch.cuda.max_memory_allocated(n) for n in range(torch.cuda.device_count()))
    return peak


def duration(seconds: float) -> str:
    """A time in words.

    Example:
        >>> [duration(seconds) for seconds in (42, 600, 9000, 300_000)]
        ['42 s', '10 min', '2.5 h', '3.5 days']
    """
    for most, unit, size in ((120, "s", 1), (7200, "min", 60), (172_800, "h", 3600)):
        if seconds < most:
            return f"{seconds / size:.2g} {unit}" if seconds / size < 99.5 else f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86_400:,.1f} days"
