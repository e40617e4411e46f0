"""Two-sided tests: their false verdicts by enumeration, their numbers against SciPy's."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, ttest_ind

from lqm.evaluation.significance import FEWEST_SIGNS, LEVEL, sign_test, welch
from lqm.evaluation.spread import Spread


@pytest.mark.parametrize("networks", [1, 2, 3, 4, 5, 6, 8, 10, 12])
def test_equal_sets_are_called_different_in_five_percent_of_all_sign_patterns_at_most(networks):
    patterns = [*product((-1.0, 1.0), repeat=networks)]
    called = sum(sign_test(pattern) <= LEVEL for pattern in patterns)
    assert called / len(patterns) <= 0.05
    assert (called > 0) == (networks >= FEWEST_SIGNS)


@pytest.mark.parametrize("networks", [1, 4, 7, 20])
def test_the_sign_test_is_scipys(networks):
    for above in range(networks + 1):
        differences = [0.1] * above + [-0.1] * (networks - above)
        expected = binomtest(above, networks, alternative="two-sided").pvalue
        assert sign_test(differences) == pytest.approx(expected)
        assert sign_test([*differences, 0.0, 0.0]) == pytest.approx(expected), "ties say nothing"
    assert sign_test([0.0]) == 1


@pytest.mark.parametrize(("one", "other"), [(4, 4), (4, 2), (5, 3), (2, 2)])
def test_the_interval_of_a_difference_is_that_of_scipys_test_by_welch(one, other):
    draws = np.random.default_rng(one)
    first, second = draws.normal(0.7, 0.01, one), draws.normal(0.6, 0.03, other)
    found = welch(Spread(tuple(first)), Spread(tuple(second)))
    interval = ttest_ind(first, second, equal_var=False).confidence_interval(0.95)
    assert (found.mean - found.margin, found.mean + found.margin) == pytest.approx(interval, rel=1e-6)


def test_single_values_are_never_clearly_apart_and_constants_are_unless_equal():
    assert not welch(Spread((0.9,)), Spread((0.1, 0.2))).clear
    assert welch(Spread((0.9, 0.9)), Spread((0.1, 0.1))).clear
    assert not welch(Spread((0.9, 0.9)), Spread((0.9, 0.9))).clear


def test_equal_sets_are_rarely_called_different_by_their_networks():
    draws = np.random.default_rng(0)
    called = sum(
        welch(Spread(tuple(draws.normal(size=4))), Spread(tuple(draws.normal(size=4)))).clear
        for _ in range(2000)
    )
    assert called / 2000 < 0.06
