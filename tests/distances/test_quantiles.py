import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lqm.distances.levels import anderson_darling_levels, cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles, sorted_records

METHODS = ["hazen", "linear"]


@pytest.mark.parametrize("interpolation", METHODS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 5), (3, 10), (10, 10), (256, 10), (257, 1), (40, 7)])
def test_equals_numpy(n, k, dtype, interpolation):
    sample = torch.randn(4, n, 6, dtype=dtype)
    for levels in (cramer_von_mises_levels(k).levels, anderson_darling_levels(k).levels):
        found = column_quantiles(sample, levels, interpolation)
        expected = np.moveaxis(
            np.quantile(sample.double().numpy(), levels, axis=1, method=interpolation), 0, 1
        )
        tolerance = 1e-6 if dtype == torch.float32 else 1e-14
        np.testing.assert_allclose(found.numpy(), expected, atol=tolerance, rtol=tolerance)
        assert found.dtype == dtype


@settings(max_examples=60, deadline=None)
@given(
    sample=arrays(
        np.float64, st.tuples(st.integers(1, 12), st.integers(1, 3)), elements=st.integers(-3, 3).map(float)
    ),
    levels=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    interpolation=st.sampled_from(METHODS),
)
def test_equals_numpy_with_ties_and_any_level(sample, levels, interpolation):
    levels = np.array(levels)
    found = column_quantiles(torch.tensor(sample), levels, interpolation)
    np.testing.assert_allclose(found, np.quantile(sample, levels, axis=0, method=interpolation), atol=1e-12)


def test_equals_torch_quantile_up_to_rounding():
    sample = torch.randn(3, 100, 20, dtype=torch.float64)
    levels = cramer_von_mises_levels(10).levels
    expected = torch.quantile(sample, torch.tensor(levels), dim=1).movedim(0, 1)
    torch.testing.assert_close(column_quantiles(sample, levels, "linear"), expected, atol=1e-12, rtol=0)


def test_has_no_limit_on_size():
    """torch.quantile used to stop at 16 million elements."""
    sample = torch.rand(1_000_001, 17)
    median = column_quantiles(sample, np.array([0.5]))
    assert median.shape == (1, 17)
    assert (median - 0.5).abs().max() < 0.01


def test_order_statistics_come_back_exactly():
    sample = torch.randn(10, 5)
    assert column_quantiles(sample, cramer_von_mises_levels(10).levels).equal(sample.sort(dim=0).values)


def test_a_column_with_nan_is_nan_as_in_numpy():
    sample = torch.randn(9, 3)
    sample[4, 1] = torch.nan
    found = column_quantiles(sample, cramer_von_mises_levels(4).levels)
    assert found[:, 1].isnan().all()
    assert not found[:, [0, 2]].isnan().any()


def test_leaves_its_input_alone_and_needs_no_contiguity():
    sample = torch.randn(7, 2, 5).transpose(0, 1)
    before = sample.clone()
    found = column_quantiles(sample, cramer_von_mises_levels(3).levels)
    assert sample.equal(before)
    assert found.equal(column_quantiles(before.contiguous(), cramer_von_mises_levels(3).levels))


def test_half_precision_takes_the_slower_road():
    sample = torch.randn(20, 3).half()
    found = column_quantiles(sample, cramer_von_mises_levels(5).levels)
    expected = column_quantiles(sample.float(), cramer_von_mises_levels(5).levels)
    torch.testing.assert_close(found.float(), expected, atol=2e-3, rtol=2e-3)


@pytest.mark.parametrize("levels", [[-0.1], [1.1], [np.nan]])
def test_levels_outside_the_unit_interval_are_refused(levels):
    with pytest.raises(ValueError, match=r"\b0\b.*\b1\b"):
        column_quantiles(torch.randn(3, 1), np.array(levels))


def test_an_empty_sample_is_refused():
    with pytest.raises(ValueError, match="records"):
        column_quantiles(torch.empty(0, 3), np.array([0.5]))


def test_a_target_for_another_number_of_records_is_refused():
    with pytest.raises(ValueError, match=r"\b4\b.*\b3\b"):
        sorted_records(torch.randn(3, 2), 4)
