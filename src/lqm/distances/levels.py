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
    neighbours only, so Newton's method solves a tridiagonal system a step and is done in a few. The
    unknowns are the weights and the equations are written in differences of them: with the Q_i
    themselves, rounding would grow with k^2 and the steps would not settle from k = 10,000 on.

    Example:
        >>> anderson_darling_levels(3).levels.round(5)
        array([0.15455, 0.5    , 0.84545])
    """
    _require_positive(k)
    # For many points the density of the best levels tends to (u (1-u))^(-1/3): close to the solution.
    weights = _symmetric(np.diff(betaincinv(2 / 3, 2 / 3, np.arange(k + 1) / k)))
    for _ in range(_NEWTON_STEPS):
        if k == 1:
            break
        residual, jacobian = _fixed_point_residual(weights)
        change = np.diff(solve_banded((1, 1), jacobian, residual), prepend=0.0, append=0.0)
        weights = _symmetric(weights - change)
        if np.abs(change / weights).max() < _TOLERANCE:
            break
    else:
        raise ArithmeticError(f"the Anderson-Darling levels of {k} points did not converge")
    middles = _middles(weights)
    left = np.arange(k) < k / 2
    return _read_only(Levels(np.where(left, middles, 1 - middles[::-1]), weights))


def _fixed_point_residual(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Q_i minus what its neighbours ask it to be, and the banded derivative by Q_{i-1}, Q_i, Q_{i+1}.

    With m and h the middle and half the distance of q_i and q_{i+1}, and g(x) = atanh(x)/x - 1, the fixed
    point is m + 2 h (g(h/(1-m)) - g(h/m)) / ln(...), and Q_i is m + (w_i - w_{i+1}) / 4.
    """
    levels = _middles(weights)
    rest = levels[::-1]
    left, right = levels[:-1], levels[1:]
    half = (weights[:-1] + weights[1:]) / 4
    below, above = half / (left + half), half / (rest[1:] + half)
    total = 2 * (np.arctanh(below) + np.arctanh(above))
    shift = 2 * half * (_atanh_excess(above) - _atanh_excess(below)) / total
    by_left = (half + shift) / (left * rest[:-1] * total) / 2
    by_right = (half - shift) / (right * rest[1:] * total) / 2
    jacobian = np.zeros((3, len(left)))
    jacobian[0, 1:] = -by_right[:-1]
    jacobian[1] = 1 - by_left - by_right
    jacobian[2, :-1] = -by_left[1:]
    return (weights[:-1] - weights[1:]) / 4 - shift, jacobian


def _atanh_excess(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """atanh(x)/x - 1 = x^2/3 + x^4/5 + ..., by the series where the difference would lose digits."""
    squared = x * x
    series = squared * np.polynomial.polynomial.polyval(squared, 1 / (2 * np.arange(12) + 3))
    return np.where(x < 0.2, series, np.arctanh(x) / x - 1)


def _middles(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The middle of each weight's share of [0, 1]; for symmetric weights, reversed, its distance from 1."""
    return np.cumsum(weights) - weights / 2


def _symmetric(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights, alike from both ends and with the sum 1."""
    both: NDArray[np.float64] = weights + weights[::-1]
    return both / float(both.sum())


def _read_only(levels: Levels) -> Levels:
    """The levels as they may be cached: no caller can change them for the next one."""
    for array in levels:
        array.flags.writeable = False
    return levels


def _require_positive(k: int) -> None:
    if k < 1:
        raise ValueError(f"a sample needs at least one record, not {k}")
