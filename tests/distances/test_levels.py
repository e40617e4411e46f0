import time

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.stats import beta

from lqm.distances.levels import anderson_darling_levels, cramer_von_mises_levels


def plain_anderson_darling(k):
    """The paper's algorithm 2 as it stands, with its slips mended."""
    steps = np.arange(k + 1) / k
    for _ in range(100_000):
        q = (steps[:-1] + steps[1:]) / 2
        left, right = q[:-1], q[1:]
        inner = np.log((1 - left) / (1 - right)) / np.log(right * (1 - left) / (left * (1 - right)))
        change = np.abs(inner - steps[1:-1]).max(initial=0)
        steps[1:-1] = inner
        if change < 1e-13:
            return (steps[:-1] + steps[1:]) / 2, np.diff(steps)
    raise AssertionError("the plain fixed point did not converge")


def anderson_darling_statistic(levels, cumulative):
    """Integral of (u - G(u))^2 / (u (1-u)), where G steps up to cumulative[i] at levels[i]."""
    edges = [0.0, *levels, 1.0]
    heights = [0.0, *cumulative]
    pieces = [
        quad(lambda u, h=height: (u - h) ** 2 / (u * (1 - u)), left, right)[0]
        for height, left, right in zip(heights, edges[:-1], edges[1:], strict=True)
    ]
    return sum(pieces)


def test_cramer_von_mises_levels_are_the_middles_of_k_equal_bins():
    for k in (1, 2, 3, 10, 50):
        found = cramer_von_mises_levels(k)
        np.testing.assert_allclose(found.levels, [(2 * i - 1) / (2 * k) for i in range(1, k + 1)], rtol=1e-15)
        np.testing.assert_allclose(found.weights, 1 / k)


def test_anderson_darling_levels_are_the_published_ones():
    np.testing.assert_allclose(anderson_darling_levels(2).levels, [0.25, 0.75], atol=1e-12)
    np.testing.assert_allclose(anderson_darling_levels(3).levels, [0.15455, 0.5, 0.84545], atol=5e-6)
    np.testing.assert_allclose(
        anderson_darling_levels(4).levels, [0.10723, 0.35723, 0.64277, 0.89277], atol=5e-6
    )
    np.testing.assert_allclose(
        anderson_darling_levels(5).levels, [0.07988, 0.27018, 0.5, 0.72982, 0.92012], atol=5e-6
    )
    np.testing.assert_allclose(
        anderson_darling_levels(10).levels[:5], [0.03065, 0.10621, 0.20485, 0.31765, 0.43837], atol=5e-6
    )


@pytest.mark.parametrize("k", [*range(1, 21), 33, 50, 64, 100])
def test_anderson_darling_equals_the_plain_fixed_point(k):
    levels, weights = plain_anderson_darling(k)
    np.testing.assert_allclose(anderson_darling_levels(k).levels, levels, atol=1e-9, rtol=0)
    np.testing.assert_allclose(anderson_darling_levels(k).weights, weights, atol=1e-9, rtol=0)


def test_anderson_darling_levels_up_to_a_thousand_are_symmetric_increasing_and_quick():
    def timed(k):
        began = time.process_time()
        found = anderson_darling_levels.__wrapped__(k)
        return time.process_time() - began, found

    slow = []
    for k in range(1, 1001):
        seconds, (levels, weights) = timed(k)
        if seconds >= 0.05:
            slow.append(k)
        assert levels[0] > 0
        assert levels[-1] < 1
        assert (np.diff(levels) > 0).all()
        assert (weights > 0).all()
        np.testing.assert_allclose(levels, 1 - levels[::-1], atol=1e-13)
        np.testing.assert_allclose(weights.sum(), 1, atol=1e-12)
        inner = np.cumsum(weights)[:-1]
        left, right = levels[:-1], levels[1:]
        fixed = np.log((1 - left) / (1 - right)) / np.log(right * (1 - left) / (left * (1 - right)))
        np.testing.assert_allclose(fixed, inner, atol=1e-10)
    # One that something else held up is quick the next time.
    assert all(min(timed(k)[0] for _ in range(3)) < 0.05 for k in slow)


@pytest.mark.parametrize("k", [9_999, 10_000, 10_001, 12_345, 50_000, 200_000])
def test_anderson_darling_levels_of_many_points_solve_the_equations(k):
    levels, weights = anderson_darling_levels.__wrapped__(k)
    assert (np.diff(levels) > 0).all()
    assert (weights > 0).all()
    np.testing.assert_allclose(weights.sum(), 1, atol=1e-12)
    np.testing.assert_allclose(levels, 1 - levels[::-1], atol=1e-13)
    left, right = levels[:-1], levels[1:]
    rise, fall = np.log1p((right - left) / left), np.log1p((right - left) / (1 - right))
    inner = np.cumsum(weights)[:-1]
    np.testing.assert_allclose(fall / (rise + fall), inner, atol=1e-10)
    np.testing.assert_allclose((inner[:-1] + inner[1:]) / 2, levels[1:-1], atol=1e-10)
    # What the levels tend to: the density of the points is that of Beta(2/3, 2/3).
    np.testing.assert_allclose(levels, beta(2 / 3, 2 / 3).ppf((np.arange(k) + 0.5) / k), atol=1 / k)


def test_anderson_darling_minimises_its_statistic():
    levels, weights = anderson_darling_levels(4)

    def statistic(free):
        return anderson_darling_statistic(free[:4], [*free[4:], 1.0])

    start = [0.15, 0.4, 0.6, 0.85, 0.25, 0.5, 0.75]
    found = minimize(
        statistic, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 9000}
    )
    np.testing.assert_allclose(found.x, [*levels, *np.cumsum(weights)[:-1]], atol=1e-4)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_with_equal_weights_anderson_darling_too_has_the_cramer_von_mises_levels(k):
    """The midpoint argument: moving a step of height 1/k pays until both sides of it are equally far."""
    heights = [i / k for i in range(1, k + 1)]
    start = np.sort(np.random.default_rng(0).uniform(0.1, 0.9, k))
    found = minimize(
        lambda levels: anderson_darling_statistic(np.clip(np.sort(levels), 1e-6, 1 - 1e-6), heights),
        start,
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-12, "maxiter": 9000},
    )
    np.testing.assert_allclose(np.sort(found.x), cramer_von_mises_levels(k).levels, atol=1e-4)


def test_no_records_have_no_levels():
    for levels in (cramer_von_mises_levels, anderson_darling_levels):
        with pytest.raises(ValueError, match="at least one"):
            levels(0)
