"""The statistics of pairs, against SciPy and by simulation."""

import numpy as np
import pytest
from scipy import stats

from lqm.evaluation.paired import Paired, holm
from lqm.utils.errors import DataError

COMPARISONS = 2000


def drawn(pairs, shift=0.0, seed=0):
    return tuple(np.random.default_rng([seed, pairs]).normal(shift, 0.02, pairs).tolist())


def held(interval, value=0.0):
    return interval[0] <= value <= interval[1]


@pytest.mark.parametrize("pairs", [2, 3, 5, 12])
def test_the_t_interval_is_scipys(pairs):
    differences = drawn(pairs, 0.01)
    expected = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
    assert Paired(differences).interval == pytest.approx(expected)


@pytest.mark.parametrize("differences", [drawn(2), drawn(5, 0.02), drawn(8, 0.01), (0.0, 0.3, 0.1, 0.2)])
def test_the_exact_sign_flip_test_is_scipys(differences):
    expected = stats.permutation_test(
        (np.array(differences),), np.sum, permutation_type="samples", n_resamples=np.inf
    )
    assert Paired(differences).p == pytest.approx(expected.pvalue)


def test_random_sign_flips_of_many_pairs_are_near_the_exact_test_and_never_give_0():
    differences = drawn(20, 0.005)
    # A pair without a difference changes no sum, so the exact p-value stays.
    assert Paired((*differences, 0.0)).p == pytest.approx(Paired(differences).p, rel=0.05)
    assert 0 < Paired((1.0,) * 60).p < 1e-4


@pytest.mark.parametrize("pairs", [4, 5, 6, 12])
def test_the_bootstrap_interval_is_scipys_at_the_expanded_level(pairs):
    differences = drawn(pairs, 0.01)
    tail = stats.norm.cdf(-np.sqrt(pairs / (pairs - 1)) * stats.t.ppf(0.975, pairs - 1))
    draws = np.random.default_rng(1)
    expected = stats.bootstrap(
        (differences,),
        np.mean,
        confidence_level=1 - 2 * tail,
        n_resamples=100_000,
        method="percentile",
        rng=draws,
    ).confidence_interval
    assert Paired(differences).bootstrap == pytest.approx(expected, abs=2e-3)
    assert Paired(differences).bootstrap == Paired(differences).bootstrap


def test_the_bootstrap_of_few_pairs_counts_every_resample():
    differences = drawn(3)
    means = [np.mean([a, b, c]) for a in differences for b in differences for c in differences]
    tail = stats.norm.cdf(-np.sqrt(3 / 2) * stats.t.ppf(0.975, 2))
    assert Paired(differences).bootstrap == pytest.approx(np.quantile(means, [tail, 1 - tail]))


def test_the_intervals_of_five_pairs_hold_the_truth_as_often_as_they_say():
    draws = np.random.default_rng(0).normal(0.01, 0.02, (COMPARISONS, 5)).tolist()
    found = [Paired(tuple(each)) for each in draws]
    assert 0.93 <= sum(held(each.interval, 0.01) for each in found) / COMPARISONS <= 0.97
    # At most 1 - 2 / 2^5 is possible for an interval within the range of the differences.
    assert 0.90 <= sum(held(each.bootstrap, 0.01) for each in found) / COMPARISONS <= 0.9375


def test_no_difference_is_rarely_called_better():
    draws = np.random.default_rng(1).normal(0.0, 0.02, (COMPARISONS, 5)).tolist()
    verdicts = [Paired(tuple(each)).verdict for each in draws]
    assert verdicts.count("better") / COMPARISONS < 0.05
    assert verdicts.count("worse") / COMPARISONS < 0.05
    assert verdicts.count("can't be told apart") / COMPARISONS >= 0.93


def naive_holm(ps):
    """A hypothesis is rejected while the smallest p-value left is below its share of the level."""
    adjusted = []
    for p in ps:
        smaller = [other for other in ps if other <= p]
        adjusted.append(min(1, max((sum(third >= other for third in ps)) * other for other in smaller)))
    return adjusted


@pytest.mark.parametrize("family", [[], [0.04], [0.03, 0.01, 0.5], [0.01, 0.01, 0.2], [0.4, 0.3, 0.2, 0.001]])
def test_holm_is_the_naive_rule(family):
    assert holm(family) == pytest.approx(naive_holm(family))


def test_holm_calls_no_more_than_five_percent_of_families_without_a_difference():
    families = np.random.default_rng(0).uniform(size=(COMPARISONS, 4)).tolist()
    assert sum(min(holm(each)) <= 0.05 for each in families) / COMPARISONS < 0.065


@pytest.mark.parametrize("difference", [0.01, -0.01, 0.0])
def test_equal_differences_have_a_point_for_an_interval(difference):
    found = Paired((difference,) * 5)
    assert found.interval == pytest.approx((difference, difference))
    assert found.bootstrap == pytest.approx((difference, difference))
    assert found.p == (1 / 16 if difference else 1)


def test_the_rounding_of_sums_makes_no_verdict():
    assert Paired(((0.8 + 0.9) / 2 - 0.85,) * 5).verdict == "can't be told apart"


def test_one_pair_has_no_interval():
    found = Paired((0.02,))
    assert found.interval is None
    assert found.bootstrap is None
    assert found.p == 1
    assert found.verdict == "can't be told apart"
    assert str(found) == "+2.0 points, 1 pair, p = 1 (no less is possible)"


@pytest.mark.parametrize("differences", [(), (0.1, float("nan")), (float("inf"),)])
def test_what_has_no_mean_is_refused(differences):
    with pytest.raises(DataError, match="finite"):
        Paired(differences)


def test_words_say_when_a_p_value_can_be_no_smaller():
    few, more, mixed = Paired((0.01, 0.02, 0.03)), Paired(drawn(6, 1)), Paired((0.01, 0.02, -0.03, 0.01))
    assert few.p == few.least_p == 0.25
    assert "no less is possible" in str(few)
    assert more.p == more.least_p == 1 / 32
    assert "possible" not in str(more)
    assert "possible" not in str(mixed)


def test_equal_differences_are_clear_only_where_the_sign_flip_test_says_so():
    assert Paired((0.01,) * 5).verdict == "can't be told apart"
    assert Paired((0.01,) * 6).verdict == "better"
    assert Paired((-0.01,) * 6).verdict == "worse"
