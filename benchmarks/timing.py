"""Two ways of doing the same work, timed in turn: a ratio survives a noisy machine, seconds do not."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Comparison:
    """Median seconds of a plain way and of ours.

    The ratio plain / ours should be at least `at_least`, or ours / plain at most `at_most`.
    """

    work: str
    plain_name: str
    plain: float
    ours: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool:
        """Whether the limit holds."""
        if self.at_least is not None:
            return self.plain / self.ours >= self.at_least
        return self.at_most is None or self.ours / self.plain <= self.at_most

    def row(self) -> tuple[str, ...]:
        """Work, plain way, both times, ratio, limit."""
        if self.at_least is not None:
            ratio, limit = f"{self.plain / self.ours:.1f} x faster", f">= {self.at_least:g}"
        else:
            ratio, limit = f"{self.ours / self.plain:.3f} x the time", f"<= {self.at_most:g}"
        times = (f"{1000 * self.plain:.2f} ms", f"{1000 * self.ours:.2f} ms")
        return self.work, self.plain_name, *times, ratio, limit if self.met else f"{limit} MISSED"


def interleaved(plain: Callable[[], object], ours: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Median seconds of each, after one warm-up of both."""
    plain(), ours()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for work, found in zip((plain, ours), times, strict=True):
            began = time.perf_counter()
            work()
            found.append(time.perf_counter() - began)
    return median(times[0]), median(times[1])
