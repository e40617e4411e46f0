"""Levels and weights of the k points that approximate a distribution best.

Barbiero & Hitaj (2023), after Kennan (2006): the best k-point approximation of a distribution puts its
points at fixed levels of the quantile function, whatever the distribution. The levels depend only on
the goodness-of-fit statistic that is minimised.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded
from scipy.special import betaincinv

_NEWTON_STEPS = 20
_TOLERANCE = 1e-11


class Levels(NamedTuple):
    """Where the k points stand, in ascending order, and how much each of them weighs; both [k]."""

    levels: NDArray[np.float64]
    weights: NDArray[np.float64]


@lru_cache(maxsize=256)
def cramer_von_mises_levels(k: int) -> Levels:
    """Levels (2i-1)/(2k) with equal weights.

    Example:
        >>> cramer_von_mises_levels(2).levels
        array([0.25, 0.75])
    """
    _require_positive(k)
    return _read_only(Levels((2 * np.arange(1, k + 1) - 1) / (2 * k), np.full(k, 1 / k)))


@lru_cache(maxsize=256)
def anderson_darling_levels(k: int) -> Levels:
    """Levels and weights that minimise the Anderson-Darling statistic.

    The optimum is the fixed point of

        q_i = (Q_{i-1} + Q_i) / 2,     Q_0 = 0,  Q_k = 1,
        Q_i = ln((1-q_i)/(1-q_{i+1})) / ln(q_{i+1} (1-q_i) / (q_i (1-q_{i+1}))),   weights Q_i - Q_{i-1}.

    Plain iteration needs a number of passes that grows with k^2. Each equation involves three
    neighbours only, so Newton's method solves a tridiagonal system a step and is done in a few.

    Example:
        >>> anderson_darling_levels(3).levels.round(5)
        array([0.15455, 0.5    , 0.84545])
    """
    _require_positive(k)
    # For many points the density of the best levels tends to (u (1-u))^(-1/3): close to the solution.
    steps = betaincinv(2 / 3, 2 / 3, np.arange(k + 1) / k)
    for _ in range(_NEWTON_STEPS):
        residual, jacobian = _fixed_point_residual(steps)
        change = solve_banded((1, 1), jacobian, residual) if k > 1 else residual
        steps[1:-1] -= change
        if np.abs(change).max(initial=0.0) < _TOLERANCE:
            break
    else:
        raise ArithmeticError(f"the Anderson-Darling levels of {k} points did not converge")
    steps = (steps + 1 - steps[::-1]) / 2
    return _read_only(Levels((steps[:-1] + steps[1:]) / 2, np.diff(steps)))


def _fixed_point_residual(steps: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Q_i minus what its neighbours ask it to be, and the banded derivative by Q_{i-1}, Q_i, Q_{i+1}."""
    levels = (steps[:-1] + steps[1:]) / 2
    left, right = levels[:-1], levels[1:]
    gap = right - left
    rise = np.log1p(gap / left)
    fall = np.log1p(gap / (1 - right))
    total = (rise + fall) ** 2
    by_left = (fall / left - rise / (1 - left)) / total / 2
    by_right = (rise / (1 - right) - fall / right) / total / 2
    jacobian = np.zeros((3, len(left)))
    jacobian[0, 1:] = -by_right[:-1]
    jacobian[1] = 1 - by_left - by_right
    jacobian[2, :-1] = -by_left[1:]
    return steps[1:-1] - fall / (rise + fall), jacobian


def _read_only(levels: Levels) -> Levels:
    """The levels as they may be cached: no caller can change them for the next one."""
    for array in levels:
        array.flags.writeable = False
    return levels


def _require_positive(k: int) -> None:
    if k < 1:
        raise ValueError(f"a sample needs at least one record, not {k}")
