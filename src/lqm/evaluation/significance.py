"""Whether two sets differ by more than chance brings: two-sided tests at 5 %."""

import math
from collections.abc import Sequence
from math import comb
from typing import NamedTuple

from scipy.special import stdtrit

from lqm.evaluation.spread import Spread

LEVEL = 0.05
# The fewest differences of one sign that a two-sided sign test at 5 % can find: 2 / 2^6 < 0.05 < 2 / 2^5.
FEWEST_SIGNS = 6


def sign_test(differences: Sequence[float]) -> float:
    """The two-sided p-value of the sign test; differences of 0 are left out.

    Example:
        >>> sign_test([1.0] * 4), sign_test([1.0] * 6)
        (0.125, 0.03125)
    """
    above, below = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    signs = above + below
    tail = sum(comb(signs, count) for count in range(max(above, below), signs + 1))
    return float(min(1, 2 * tail / 2**signs))


class Difference(NamedTuple):
    """The difference of two means, and half of its 95 % interval; None if a side has a single value."""

    mean: float
    margin: float | None

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.margin is not None and abs(self.mean) > self.margin


def welch(one: Spread, other: Spread) -> Difference:
    """The difference of two means with Welch's t interval, for unequal variances.

    Example:
        >>> welch(Spread((0.8, 0.9)), Spread((0.1, 0.2))).clear
        True
    """
    mean = one.mean - other.mean
    deviations = [side.deviation for side in (one, other) if side.deviation is not None]
    if len(deviations) < 2:
        return Difference(mean, None)
    parts = [deviation**2 / len(side.each) for side, deviation in zip((one, other), deviations, strict=True)]
    if not any(parts):
        return Difference(mean, 0.0)
    shares = [part**2 / (len(side.each) - 1) for side, part in zip((one, other), parts, strict=True)]
    freedom = sum(parts) ** 2 / sum(shares)
    return Difference(mean, float(stdtrit(freedom, 1 - LEVEL / 2)) * math.sqrt(sum(parts)))
