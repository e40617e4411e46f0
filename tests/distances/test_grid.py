"""What a sketch keeps of a sample, against numpy's quantiles."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from lqm.distances import DISTANCES
from lqm.distances.grid import needs, quantile_grid
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles

NEEDS = {
    "mean": "mean",
    "moments": "quantiles",
    "lqm": "quantiles",
    "lqm-linear": "quantiles",
    "lqm-ad": "quantiles",
    "lqm-ad-weighted": "quantiles",
    "wasserstein": "quantiles",
    "sliced-wasserstein": "records",
    "energy": "records",
    "kernel": "records",
    "characteristic": "records",
    "ncfm": "records",
    "shape": "mean and shape",
}


def hazen(sample, levels):
    return np.quantile(sample, levels, axis=-2, method="hazen")


def midpoints(k):
    return (2 * np.arange(k) + 1) / (2 * k)


@pytest.mark.parametrize(("n", "size"), [(1, 1), (7, 7), (7, 30), (40, 41)])
def test_a_sample_of_no_more_records_is_kept_whole(n, size):
    sample = torch.randn(2, n, 3, dtype=torch.float64)
    grid = quantile_grid(sample, size)
    np.testing.assert_array_equal(grid, np.sort(sample.numpy(), axis=-2))
    for k in (1, 2, 5, n):
        found = column_quantiles(grid, midpoints(k))
        np.testing.assert_allclose(np.moveaxis(found.numpy(), -2, 0), hazen(sample, midpoints(k)), atol=1e-12)


@pytest.mark.parametrize(("n", "size"), [(8, 7), (100, 12), (1000, 150)])
def test_of_a_larger_sample_the_grid_has_hazens_quantiles(n, size):
    sample = torch.randn(n, 4, dtype=torch.float64)
    grid = quantile_grid(sample, size)
    assert grid.shape == (size, 4)
    np.testing.assert_allclose(grid, hazen(sample, midpoints(size)), atol=1e-12)


@pytest.mark.parametrize(("k", "size"), [(1, 3), (10, 30), (4, 20), (50, 150), (7, 7), (6, 90)])
def test_quantiles_are_exact_if_the_grid_has_an_odd_number_for_each(k, size):
    sample = torch.randn(977, 5, dtype=torch.float64)
    found = column_quantiles(quantile_grid(sample, size), cramer_von_mises_levels(k).levels)
    np.testing.assert_allclose(found, hazen(sample, midpoints(k)), atol=1e-12)


def test_an_even_number_for_each_is_not_exact():
    sample = torch.randn(977, 5, dtype=torch.float64)
    found = column_quantiles(quantile_grid(sample, 20), midpoints(10))
    assert np.abs(found.numpy() - hazen(sample, midpoints(10))).max() > 1e-6


@settings(max_examples=100, deadline=None)
@given(
    sample=arrays(
        np.float64, st.tuples(st.integers(2, 40), st.integers(1, 2)), elements=st.floats(-5, 5, width=32)
    ),
    size=st.integers(1, 12),
    data=st.data(),
)
def test_any_quantile_of_sample_and_grid_lies_between_the_same_two_values_of_the_grid(sample, size, data):
    k = data.draw(st.integers(1, size))
    grid = quantile_grid(torch.tensor(sample), size).numpy()
    for level in midpoints(k):
        place = np.clip(len(grid) * level - 0.5, 0, len(grid) - 1)
        below = grid[int(np.floor(place + 1e-9))]
        above = grid[int(np.ceil(place - 1e-9))]
        for values in (hazen(sample, level), hazen(grid, level)):
            assert (below - 1e-9 <= values).all()
            assert (values <= above + 1e-9).all()


def test_what_each_distance_needs():
    assert {name: needs(distance) for name, distance in DISTANCES.items()} == NEEDS


def test_a_distance_that_does_not_say_needs_the_records():
    class Own:
        name = "own"

    assert needs(Own()) == "records"


def target(distance, sample, k=4):
    return distance.target(sample, k, torch.Generator().manual_seed(0))


def equal(first, second):
    return all(torch.allclose(a, b, rtol=1e-9, atol=1e-9) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("name", DISTANCES)
def test_a_distance_needs_what_it_says_and_no_less(name):
    """Features that are shuffled one by one keep their quantiles, and their mean; records are lost."""
    distance = DISTANCES[name]
    sample = torch.randn(60, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).exp()
    order = torch.rand(60, 3, generator=torch.Generator().manual_seed(2)).argsort(dim=0)
    shuffled = sample.gather(0, order)
    synthetic = torch.linspace(0, 2, 12, dtype=torch.float64).view(4, 3)
    first, second = (distance.loss(target(distance, real), synthetic) for real in (sample, shuffled))
    assert torch.allclose(first, second, rtol=1e-9) == (needs(distance) != "records")
    mean = sample.mean(dim=0, keepdim=True)
    only_mean = needs(distance) == "mean"
    assert equal(target(distance, mean), target(distance, sample)) == only_mean


def test_the_target_of_mean_from_a_mean_is_exact():
    sample = torch.randn(977, 5)
    (found,) = DISTANCES["mean"].target(sample.mean(dim=0, keepdim=True), 10)
    assert found.equal(sample.mean(dim=0))
    (of_grid,) = DISTANCES["mean"].target(quantile_grid(sample, 30), 10)
    assert not torch.allclose(of_grid, found, atol=1e-5), "the grid alone would not do"
