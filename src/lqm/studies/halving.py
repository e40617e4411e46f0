"""Successive halving: few seeds for many candidates, more seeds for those that do well with them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple


class Trial(NamedTuple):
    """One run: a candidate of an arm with a seed."""

    arm: int
    candidate: int
    seed: int


# The scores of trials, in their order; None for one that failed.
Score = Callable[[Sequence[Trial]], Sequence[float | None]]


@dataclass(frozen=True)
class Choice:
    """What was chosen for an arm, and by what.

    Attributes:
        best: the number of the candidate; None if every run failed.
        rungs: after each rung, for each candidate in it, the scores of all its seeds so far; None for a run
            that failed.
    """

    best: int | None
    rungs: tuple[dict[int, tuple[float | None, ...]], ...]


def halve(arms: Sequence[int], score: Score, rungs: Sequence[Sequence[int]]) -> list[Choice]:
    """The best of the candidates of each arm.

    All candidates of an arm are scored with the seeds of the first rung, the better half of them (rounded up)
    also with those of the second, and so on until one is left or there is no rung any more. Candidates are
    ranked by the mean over all their seeds; one that failed comes after all that did not, and of equal ones
    the earlier comes first. How many runs there are follows from the number of candidates alone.

    Args:
        arms: how many candidates each has.
        score: is called once a rung, with the trials of all arms.
        rungs: the seeds that each rung adds.

    Example:
        >>> choice, = halve([3], lambda trials: [-abs(t.candidate - 1) for t in trials], [[100], [101]])
        >>> choice.best, [len(rung) for rung in choice.rungs]
        (1, [3, 2])
    """
    found: list[list[list[float | None]]] = [[[] for _ in range(count)] for count in arms]
    alive = [[*range(count)] for count in arms]
    records: list[list[dict[int, tuple[float | None, ...]]]] = [[] for _ in arms]

    def rank(arm: int, candidate: int) -> tuple[int, float, int]:
        scores = [score for score in found[arm][candidate] if score is not None]
        return len(found[arm][candidate]) - len(scores), -fmean(scores) if scores else 0.0, candidate

    for seeds in rungs:
        racing = [arm for arm, candidates in enumerate(alive) if len(candidates) > 1]
        trials = [Trial(arm, one, seed) for arm in racing for one in alive[arm] for seed in seeds]
        for trial, value in zip(trials, score(trials) if trials else (), strict=True):
            found[trial.arm][trial.candidate].append(value)
        for arm in racing:
            records[arm].append({one: tuple(found[arm][one]) for one in alive[arm]})
            ranked = sorted(alive[arm], key=lambda one: rank(arm, one))
            alive[arm] = sorted(ranked[: (len(ranked) + 1) // 2])
    choices = []
    for arm, candidates in enumerate(alive):
        best = min(candidates, key=lambda one: rank(arm, one))
        tried = found[arm][best]
        failed = bool(tried) and all(value is None for value in tried)
        choices.append(Choice(None if failed else best, tuple(records[arm])))
    return choices


def planned_runs(candidates: int, rungs: Sequence[Sequence[int]]) -> int:
    """How many runs `halve` makes for an arm.

    Example:
        >>> planned_runs(6, [[100], [101], [102, 103]])
        13
    """
    runs = 0
    for seeds in rungs:
        if candidates > 1:
            runs += candidates * len(seeds)
            candidates = (candidates + 1) // 2
    return runs
