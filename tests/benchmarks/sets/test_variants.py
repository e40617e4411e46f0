"""The variants that were tried are what they are called, against naive loops."""

import numpy as np
import pytest
import torch

from benchmarks.sets.variants import VARIANTS, Discriminating, Tails, Turned, Whitened
from lqm.distances.mean import Mean
from lqm.distances.quantile import Quantile

K = 3


def samples(features=4, n=40):
    draws = torch.Generator().manual_seed(0)
    real = torch.randn(2, n, features, generator=draws, dtype=torch.float64)
    synthetic = torch.randn(2, K, features, generator=draws, dtype=torch.float64)
    return real @ torch.randn(features, features, generator=draws, dtype=torch.float64), synthetic


def between(distance, real, synthetic):
    return distance.loss(distance.target(real, K, torch.Generator().manual_seed(1)), synthetic)


@pytest.mark.parametrize("distance", VARIANTS, ids=lambda distance: distance.name)
def test_a_variant_is_zero_where_both_are_equal_and_in_squared_units(distance):
    real, synthetic = samples(n=K)
    assert between(distance, real, real).abs().max() < 1e-9
    real, _ = samples()
    once, twice = between(distance, real, synthetic), between(distance, 2 * real, 2 * synthetic)
    torch.testing.assert_close(twice, 4 * once)


def test_along_directions_means_are_in_expectation_the_means():
    real, synthetic = samples()
    many = between(Turned("turned", Mean(), directions=200_000), real, synthetic)
    torch.testing.assert_close(many, between(Mean(), real, synthetic), rtol=0.02, atol=0)


def test_along_directions_is_a_loop_over_them():
    real, synthetic = samples()
    turned = Turned("turned", Quantile(), directions=5)
    target = turned.target(real, K, torch.Generator().manual_seed(1))
    total = np.zeros(2)
    for direction in target[0].T.numpy():
        np.testing.assert_allclose(np.linalg.norm(direction), 1)
        for number in range(2):
            wanted = np.quantile(real[number].numpy() @ direction, [1 / 6, 1 / 2, 5 / 6], method="hazen")
            own = np.sort(synthetic[number].numpy() @ direction)
            total[number] += 4 / 5 * np.mean((wanted - own) ** 2)
    np.testing.assert_allclose(turned.loss(target, synthetic), total)


def test_whitened_means_are_mahalanobis():
    real, synthetic = samples()
    found = between(Whitened("whitened", Mean()), real, synthetic)
    for number in range(2):
        covariance = np.cov(real[number].numpy().T)
        level = np.trace(covariance) / 4
        shrunk = covariance / 2 + level / 2 * np.eye(4)
        apart = real[number].mean(0).numpy() - synthetic[number].mean(0).numpy()
        np.testing.assert_allclose(found[number], level * apart @ np.linalg.inv(shrunk) @ apart)


def test_weights_are_those_of_the_variance_within():
    real, synthetic = samples()
    found = between(Discriminating("weighted", Mean()), real, synthetic)
    for number in range(2):
        variance = real[number].numpy().var(axis=0)
        weights = 2 * variance.mean() / (variance + variance.mean())
        apart = real[number].mean(0).numpy() - synthetic[number].mean(0).numpy()
        np.testing.assert_allclose(found[number], (weights * apart**2).sum())


def test_tails_weigh_as_anderson_darling_has_it():
    real, synthetic = samples()
    found = between(Tails("tails", weight=2.0), real, synthetic)
    for number in range(2):
        own, total = synthetic[number].numpy(), 0.0
        for f in range(4):
            column = real[number, :, f].numpy()
            aims = np.quantile(column, [1 / 6, 1 / 2, 5 / 6], method="hazen")
            apart = (aims - aims.mean()) - (np.sort(own[:, f]) - own[:, f].mean())
            shape = (np.array([7.2, 4.0, 7.2]) / 18.4 * apart**2).sum()
            total += (column.mean() - own[:, f].mean()) ** 2 + 2 * shape
        np.testing.assert_allclose(found[number], total)
