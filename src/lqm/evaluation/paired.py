"""Differences of pairs: what they are on average, how sure that is, and whether chance explains them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal

from scipy.special import stdtrit

from lqm.evaluation.significance import LEVEL
from lqm.evaluation.spread import Spread

Interval = tuple[float, float]
Verdict = Literal["better", "worse", "can't be told apart"]


@dataclass(frozen=True)
class Paired:
    """The differences of pairs that share everything but what is compared: seed, init, encoders, evaluation.

    Attributes:
        differences: one a pair.
    """

    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Of the differences."""
        return Spread(self.differences).mean

    @property
    def pairs(self) -> int:
        """How many there are."""
        return len(self.differences)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the mean by Student's t; None for a single pair."""
        deviation = Spread(self.differences).deviation
        if deviation is None:
            return None
        margin = float(stdtrit(self.pairs - 1, 1 - LEVEL / 2)) * deviation / math.sqrt(self.pairs)
        return self.mean - margin, self.mean + margin

    @property
    def p(self) -> float:
        """Two-sided p-value of the exact permutation test that flips the sign of each difference."""
        observed = abs(math.fsum(self.differences))
        sums = (
            abs(math.fsum(map(math.prod, zip(signs, self.differences, strict=True))))
            for signs in product((1, -1), repeat=self.pairs)
        )
        return float(sum(each >= observed * (1 - 1e-12) for each in sums) / 2**self.pairs)

    @property
    def verdict(self) -> Verdict:
        """Whether the interval leaves out 0, and on which side."""
        if self.interval is None or self.interval[0] <= 0 <= self.interval[1]:
            return "can't be told apart"
        return "better" if self.mean > 0 else "worse"


def holm(ps: Sequence[float]) -> list[float]:
    """p-values of a family of tests by Holm's rule, in their order."""
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, number in enumerate(sorted(range(len(ps)), key=lambda n: ps[n])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[number]))
        adjusted[number] = highest
    return adjusted
