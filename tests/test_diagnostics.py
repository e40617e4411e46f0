import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import cramervonmises_2samp, ecdf

from lqm.evaluation import diagnostics


def scipy_statistics(real, synthetic):
    return [cramervonmises_2samp(real[:, f], synthetic[:, f]).statistic for f in range(real.shape[1])]


@pytest.mark.parametrize(("n", "k"), [(50, 10), (10, 50), (2, 2), (200, 3)])
def test_cramer_von_mises_equals_scipy_feature_by_feature(n, k):
    rng = np.random.default_rng(0)
    real, synthetic = rng.normal(size=(3, n, 8)), rng.normal(0.3, 1.2, size=(3, k, 8))
    found = diagnostics.cramer_von_mises(torch.tensor(real), torch.tensor(synthetic))
    assert found.shape == (3, 8)
    for c in range(3):
        np.testing.assert_allclose(found[c], scipy_statistics(real[c], synthetic[c]), atol=1e-10)


@settings(max_examples=60)
@given(
    real=arrays(np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=st.integers(0, 3).map(float)),
    synthetic=arrays(
        np.float64, st.tuples(st.integers(2, 9), st.just(2)), elements=st.integers(0, 3).map(float)
    ),
)
def test_cramer_von_mises_equals_scipy_with_ties(real, synthetic):
    found = diagnostics.cramer_von_mises(torch.tensor(real), torch.tensor(synthetic))
    np.testing.assert_allclose(found, scipy_statistics(real, synthetic), atol=1e-10)


def test_the_statistic_is_lower_for_the_optimal_points_than_for_random_ones():
    from lqm.distances.levels import cramer_von_mises_levels
    from lqm.distances.quantiles import column_quantiles

    real = torch.randn(400, 50)
    best = column_quantiles(real, cramer_von_mises_levels(10).levels)
    statistic = diagnostics.cramer_von_mises(real, best)
    assert (statistic < diagnostics.cramer_von_mises(real, real[:10])).double().mean() > 0.95


def test_extreme_share_counts_values_outside_the_real_range():
    real = torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    synthetic = torch.tensor([[-0.1, 1.0], [1.0, 2.1], [0.5, 0.5], [0.0, 2.0]])
    assert diagnostics.extreme_share(real, synthetic).item() == 2 / 8
    assert diagnostics.extreme_share(real, real + 1e-7).item() == 0, "rounding is no extreme"
    assert diagnostics.extreme_share(torch.stack([real] * 3), torch.stack([synthetic] * 3)).shape == (3,)


def test_ecdf_equals_scipy():
    sample = torch.tensor([3.0, 1.0, 2.0, 2.0, 7.0, 3.0, 3.0])
    values, shares = diagnostics.ecdf(sample)
    expected = ecdf(sample.numpy()).cdf
    np.testing.assert_allclose(values, expected.quantiles)
    np.testing.assert_allclose(shares, expected.probabilities)


def naive_statistic(real, synthetic):
    """The definition, value by value."""
    n, k = len(real), len(synthetic)
    gaps = [(np.mean(real <= z) - np.mean(synthetic <= z)) ** 2 for z in [*real, *synthetic]]
    return n * k / (n + k) ** 2 * sum(gaps)


@settings(max_examples=60)
@given(
    real=arrays(np.float64, st.integers(1, 9), elements=st.integers(0, 3).map(float)),
    synthetic=arrays(np.float64, st.integers(1, 9), elements=st.integers(0, 3).map(float)),
)
def test_by_ecdfs_the_statistic_keeps_to_its_definition_with_ties(real, synthetic):
    columns = (torch.tensor(sample)[:, None] for sample in (real, synthetic))
    found = diagnostics.cramer_von_mises(*columns, ties="ecdf").item()
    assert found == pytest.approx(naive_statistic(real, synthetic), abs=1e-12)


def test_without_ties_both_rules_agree():
    real, synthetic = torch.randn(2, 30, 5), torch.randn(2, 8, 5)
    by_rank, by_ecdf = (
        diagnostics.cramer_von_mises(real, synthetic, ties=rule) for rule in ("midrank", "ecdf")
    )
    torch.testing.assert_close(by_rank, by_ecdf, atol=1e-10, rtol=0)


def test_for_one_constant_on_both_sides_only_the_definition_gives_zero():
    real, synthetic = torch.zeros(30, 1), torch.zeros(8, 1)
    assert diagnostics.cramer_von_mises(real, synthetic, ties="ecdf").item() == 0
    assert diagnostics.cramer_von_mises(real, synthetic).item() > 1
