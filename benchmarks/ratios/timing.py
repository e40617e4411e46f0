"""Two ways of doing the same work, timed in turn: a ratio survives a noisy machine, seconds do not.

Each way is a process of its own, since settings of the memory allocator can't be undone in a process: ours
has them as `lqm` has, the plain way runs without, as the field's scripts do.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Self

_PROJECT = Path(__file__).parents[2]
_LAST_WORDS = 2_000


@dataclass(frozen=True)
class Work:
    """Something that can be done in two ways.

    The ratio plain / ours should be at least `at_least`, or ours / plain at most `at_most`.

    Attributes:
        title: what is done.
        plain_name: what the plain way is.
        plain: makes the plain way ready; what it gives back does the work once.
        ours: makes our way ready.
        rounds: how often each is timed.
        warm_up: how often each is done before.
        plain_is_ours: whether the plain way is ours too, by another setting, and so has our allocator.
        problem: says why the work can't be done here, if it can't.
    """

    title: str
    plain_name: str
    plain: Callable[[], Callable[[], object]]
    ours: Callable[[], Callable[[], object]]
    rounds: int
    warm_up: int = 1
    at_least: float | None = None
    at_most: float | None = None
    plain_is_ours: bool = False
    problem: Callable[[], str | None] = lambda: None


@dataclass(frozen=True)
class Comparison:
    """Seconds of each round of the plain way and of ours."""

    work: Work
    plain: Sequence[float]
    ours: Sequence[float]

    @property
    def ratio(self) -> float:
        """How many times as fast ours is, by the medians."""
        return median(self.plain) / median(self.ours)

    @property
    def middle_half(self) -> tuple[float, float]:
        """The range of the middle half of the rounds' own ratios."""
        ratios = [plain / ours for plain, ours in zip(self.plain, self.ours, strict=True)]
        if len(ratios) == 1:
            return ratios[0], ratios[0]
        low, _, high = quantiles(ratios, n=4, method="inclusive")
        return low, high

    @property
    def met(self) -> bool:
        """Whether the limit holds."""
        if self.work.at_least is not None:
            return self.ratio >= self.work.at_least
        return self.work.at_most is None or 1 / self.ratio <= self.work.at_most

    def row(self) -> tuple[str, ...]:
        """Work, plain way, both times, ratio, middle half of the rounds, limit."""
        times = (f"{1000 * median(way):.2f} ms" for way in (self.plain, self.ours))
        ends = sorted(self.number(end) for end in self.middle_half)
        faster = self.work.at_least is not None
        ratio = f"{self.number(self.ratio):.2f} x {'faster' if faster else 'the time'}"
        limit = f">= {self.work.at_least:g}" if faster else f"<= {self.work.at_most:g}"
        middle = f"{ends[0]:.2f} to {ends[1]:.2f}"
        title = (self.work.title, self.work.plain_name)
        return *title, *times, ratio, middle, limit if self.met else f"{limit} MISSED"

    def number(self, ratio: float) -> float:
        """A ratio as this work's limit counts it: speed, or time."""
        return ratio if self.work.at_least is not None else 1 / ratio


class WorkerError(Exception):
    """A worker that ended before its work was done."""


class Worker:
    """A process that does its work once whenever it is told to, and waits in between.

    Args:
        command: says `ready` when it is, then answers each line with the seconds that the work took.
        threads: of the process; as many as there are if it is not given.
    """

    def __init__(self, command: Sequence[str], threads: int | None = None) -> None:
        self._command, self._threads = command, threads

    def __enter__(self) -> Self:
        self._complaints = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=_PROJECT,
            env={
                "GOMP_SPINCOUNT": "10000",  # as `lqm` sets it, for both ways
                **os.environ,
                **({"OMP_NUM_THREADS": str(self._threads)} if self._threads else {}),
            },
        )
        try:
            self._answer()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, *raised: object) -> None:
        if any(raised):
            self._process.kill()
        self._process.communicate()
        self._complaints.close()

    def step(self) -> float:
        """Do the work once; gives the seconds that it took."""
        self.begin()
        return self.end()

    def begin(self) -> None:
        """Let it do the work once."""
        assert self._process.stdin is not None
        # If it has ended, the missing answer says so.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write("go\n")
            self._process.stdin.flush()

    def end(self) -> float:
        """Wait until the work is done; gives the seconds that it took."""
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if answer:
            return answer
        code = self._process.wait()
        self._complaints.seek(0)
        last_words = self._complaints.read()[-_LAST_WORDS:].decode(errors="replace").strip()
        raise WorkerError(f"`{' '.join(self._command)}` ended with exit code {code}:\n{last_words}")


def compare(name: str, work: Work, *, processor: bool = False) -> Comparison:
    """Time both ways in turn, after the warm-up of each; `name` is that of the work in `WORKS`.

    `processor` counts the seconds of the processor, which other programs on the machine hardly change.
    """
    clock = ["processor"] if processor else []
    with (
        Worker([*command(name, "plain", work.plain_is_ours), *clock]) as plain,
        Worker([*command(name, "ours", True), *clock]) as ours,
    ):
        for worker in (plain, ours):
            for _ in range(work.warm_up):
                worker.step()
        rounds = [(plain.step(), ours.step()) for _ in range(work.rounds)]
    return Comparison(work, *zip(*rounds, strict=True))


def command(name: str, way: str, tuned: bool) -> list[str]:
    """What starts a worker."""
    return [sys.executable, "-m", "benchmarks.ratios.worker", name, way, *(["tuned"] if tuned else [])]
