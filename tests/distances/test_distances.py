"""Properties that every distance promises, and each distance against an oracle from outside."""

import math

import numpy as np
import ot
import pytest
import scipy.stats
import torch

import lqm
from lqm.distances import DISTANCES, class_losses, class_targets
from lqm.distances.amplitude import AmplitudePhase
from lqm.distances.characteristic import Characteristic
from lqm.distances.energy import Energy
from lqm.distances.kernel import Kernel
from lqm.distances.levels import anderson_darling_levels, cramer_von_mises_levels
from lqm.distances.quantile import Quantile
from lqm.distances.wasserstein import SlicedWasserstein

# With levels or a rule that are not the order statistics' own, equal samples keep a distance.
NOT_ZERO_AT_EQUALITY = {"lqm-linear", "lqm-ad", "lqm-ad-weighted"}
RANDOM = {"sliced-wasserstein", "characteristic", "ncfm"}
NAMES = sorted(DISTANCES)


def samples(n=12, k=5, features=4, classes=3, seed=0, dtype=torch.float64):
    draws = torch.Generator().manual_seed(seed)
    real = torch.randn(classes, n, features, generator=draws, dtype=dtype)
    synthetic = torch.randn(classes, k, features, generator=draws, dtype=dtype)
    return real, 0.7 * synthetic + 0.3


def distance_between(name, real, synthetic, seed=0):
    distance = DISTANCES[name] if isinstance(name, str) else name
    target = distance.target(real, synthetic.shape[-2], torch.Generator().manual_seed(seed))
    return distance.loss(target, synthetic)


@pytest.mark.parametrize("name", NAMES)
def test_gives_one_finite_number_a_class_that_is_not_negative(name):
    real, synthetic = samples()
    losses = distance_between(name, real, synthetic)
    assert losses.shape == (3,)
    assert torch.isfinite(losses).all()
    assert (losses > 0).all()


@pytest.mark.parametrize("name", NAMES)
def test_classes_in_a_batch_do_not_touch_each_other(name):
    real, synthetic = samples()
    together = distance_between(name, real, synthetic)
    alone = torch.stack([distance_between(name, r, s) for r, s in zip(real, synthetic, strict=True)])
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize("name", sorted(set(NAMES) - NOT_ZERO_AT_EQUALITY))
def test_is_zero_when_both_samples_are_equal(name):
    real, _ = samples(n=7)
    torch.testing.assert_close(
        distance_between(name, real, real), torch.zeros(3).double(), atol=1e-12, rtol=0
    )


@pytest.mark.parametrize("name", NAMES)
def test_does_not_depend_on_the_order_of_records(name):
    real, synthetic = samples()
    shuffled = distance_between(name, real[:, torch.randperm(12)], synthetic[:, torch.randperm(5)])
    torch.testing.assert_close(shuffled, distance_between(name, real, synthetic))


@pytest.mark.parametrize("name", NAMES)
def test_is_in_squared_units_of_the_features(name):
    """Twice the features, four times the loss: a learning rate carries over from one distance to another."""
    real, synthetic = samples()
    doubled = distance_between(name, 2 * real, 2 * synthetic)
    torch.testing.assert_close(doubled, 4 * distance_between(name, real, synthetic))


@pytest.mark.parametrize("name", NAMES)
def test_gradient_equals_finite_differences(name):
    real, synthetic = samples(classes=2)
    distance = DISTANCES[name]
    target = distance.target(real, 5, torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(lambda s: distance.loss(target, s), synthetic.requires_grad_())


@pytest.mark.parametrize("name", NAMES)
def test_descending_its_gradient_brings_the_samples_closer(name):
    real, synthetic = samples(dtype=torch.float32)
    before = distance_between(name, real, synthetic).sum()
    synthetic.requires_grad_()
    for _ in range(50):
        (gradient,) = torch.autograd.grad(distance_between(name, real, synthetic).sum(), synthetic)
        synthetic = (synthetic - 0.2 * gradient).detach().requires_grad_()
    assert distance_between(name, real, synthetic).sum() < before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 4), (3, 8), (9, 1)])
def test_any_two_sizes_can_be_compared(name, n, k):
    real, synthetic = samples(n=n, k=k)
    synthetic.requires_grad_()
    losses = distance_between(name, real, synthetic)
    losses.sum().backward()
    assert torch.isfinite(losses).all()
    assert torch.isfinite(synthetic.grad).all()


@pytest.mark.parametrize("name", NAMES)
def test_ties_and_constant_features_do_no_harm(name):
    """ReLU features are full of exact zeros."""
    real, synthetic = samples(dtype=torch.float32)
    real, synthetic = real.clamp(min=0), synthetic.clamp(min=0)
    real[..., 0] = synthetic[..., 0] = 0
    real[..., 1] = 0
    synthetic.requires_grad_()
    losses = distance_between(name, real, synthetic)
    losses.sum().backward()
    assert torch.isfinite(losses).all()
    assert torch.isfinite(synthetic.grad).all()


@pytest.mark.parametrize("name", sorted(set(NAMES) - RANDOM))
def test_classes_of_unequal_size_give_the_losses_that_each_gives_alone(name):
    draws = torch.Generator().manual_seed(3)
    real = [torch.randn(n, 4, generator=draws) for n in (9, 5, 9, 7)]
    synthetic = [torch.randn(k, 4, generator=draws) for k in (2, 3, 2, 2)]
    targets = class_targets(DISTANCES[name], real, [2, 3, 2, 2])
    losses = class_losses(DISTANCES[name], targets, synthetic)
    alone = [distance_between(name, r, s) for r, s in zip(real, synthetic, strict=True)]
    assert [group.classes for group in targets] == [[0, 2], [1], [3]]
    torch.testing.assert_close(losses, torch.stack(alone))


def test_mean_is_the_squared_difference_of_means():
    real, synthetic = (x.numpy() for x in samples())
    expected = [
        sum((r[:, f].mean() - s[:, f].mean()) ** 2 for f in range(4))
        for r, s in zip(real, synthetic, strict=True)
    ]
    np.testing.assert_allclose(distance_between("mean", *samples()), expected)


def test_mmd_is_another_name_of_mean_and_no_distance_of_its_own():
    assert "mmd" not in DISTANCES
    condensed = lqm.condense(
        "digits", method="dm", distance="mmd", per_class=1, settings={"steps": 1}, show_progress=False
    )
    assert condensed.manifest["distance"]["name"] == "mean"


def test_moments_are_those_of_scipy():
    real, synthetic = samples(n=40, k=15, classes=1)
    expected = 0.0
    floor = 1e-4 * real[0].numpy().var(axis=0)

    def shape(sample, order):
        raw = scipy.stats.skew(sample) if order == 3 else scipy.stats.kurtosis(sample, fisher=False)
        return raw * (sample.var(axis=0) / (sample.var(axis=0) + floor)) ** (order / 2)

    r, s = real[0].numpy(), synthetic[0].numpy()
    expected = (r.mean(0) - s.mean(0)) ** 2 + (np.sqrt(r.var(0) + floor) - np.sqrt(s.var(0) + floor)) ** 2
    expected += r.var(0) * sum((shape(r, order) - shape(s, order)) ** 2 for order in (3, 4))
    np.testing.assert_allclose(distance_between("moments", real, synthetic).item(), expected.sum())


@pytest.mark.parametrize(
    ("name", "levels", "method"),
    [
        ("lqm", cramer_von_mises_levels, "hazen"),
        ("lqm-linear", cramer_von_mises_levels, "linear"),
        ("lqm-ad", anderson_darling_levels, "hazen"),
        ("lqm-ad-weighted", anderson_darling_levels, "hazen"),
    ],
)
def test_lqm_equals_a_naive_loop(name, levels, method):
    real, synthetic = samples()
    best = levels(5)
    weights = best.weights if name == "lqm-ad-weighted" else [1 / 5] * 5
    for c, found in enumerate(distance_between(name, real, synthetic)):
        expected = 0.0
        for f in range(4):
            ascending = sorted(synthetic[c, :, f].tolist())
            for level, weight, value in zip(best.levels, weights, ascending, strict=True):
                expected += weight * (np.quantile(real[c, :, f].numpy(), level, method=method) - value) ** 2
        assert found.item() == pytest.approx(expected, rel=1e-12)


def test_one_record_a_class_is_median_matching():
    real, synthetic = samples(k=1)
    expected = (np.median(real.numpy(), axis=1) - synthetic[:, 0].numpy()) ** 2
    for name in ("lqm", "lqm-linear", "lqm-ad", "lqm-ad-weighted"):
        np.testing.assert_allclose(distance_between(name, real, synthetic), expected.sum(axis=1))


@pytest.mark.parametrize(("n", "k"), [(12, 5), (5, 12), (6, 6), (1, 3)])
def test_wasserstein_is_exact_against_pot(n, k):
    real, synthetic = samples(n=n, k=k)
    for c, found in enumerate(distance_between("wasserstein", real, synthetic)):
        expected = ot.wasserstein_1d(real[c].numpy(), synthetic[c].numpy(), p=2).sum()
        assert found.item() == pytest.approx(expected, rel=1e-9)


def test_sliced_wasserstein_equals_pot_along_the_same_directions():
    real, synthetic = samples(classes=1)
    distance = SlicedWasserstein(directions=20)
    target = distance.target(real, 5, torch.Generator().manual_seed(1))
    expected = ot.sliced_wasserstein_distance(
        real[0].numpy(), synthetic[0].numpy(), projections=target[0].numpy()
    )
    assert distance.loss(target, synthetic).item() == pytest.approx(4 * expected**2, rel=1e-9)


def test_lqm_tends_to_wasserstein_as_the_number_of_records_grows():
    gaps = []
    for k in (4, 16, 64):
        real = torch.tensor(scipy.stats.norm.ppf(cramer_von_mises_levels(4096).levels)).view(-1, 1)
        synthetic = torch.tensor(1.3 * scipy.stats.norm.ppf(cramer_von_mises_levels(k).levels)).view(-1, 1)
        exact = distance_between("wasserstein", real, synthetic).item()
        gaps.append(abs(distance_between("lqm", real, synthetic).item() - exact) / exact)
    assert gaps[2] < gaps[1] < gaps[0]
    assert gaps[2] < 0.05


def test_energy_equals_scipy_for_one_feature():
    real, synthetic = samples(features=1)
    for c, found in enumerate(distance_between("energy", real, synthetic)):
        scale = math.sqrt(2 * real[c, :, 0].var().item())
        expected = scipy.stats.energy_distance(real[c, :, 0].numpy(), synthetic[c, :, 0].numpy()) ** 2
        assert found.item() == pytest.approx(scale * expected, rel=1e-9)


def test_energy_of_many_features_equals_a_naive_loop():
    real, synthetic = samples(classes=1)
    r, s = real[0].numpy(), synthetic[0].numpy()

    def mean_distance(a, b):
        return np.mean([np.linalg.norm(x - y) for x in a for y in b])

    expected = 2 * mean_distance(r, s) - mean_distance(r, r) - mean_distance(s, s)
    scale = math.sqrt(sum(np.sum((x - y) ** 2) for x in r for y in r) / (12 * 11))
    assert distance_between(Energy(), real, synthetic).item() == pytest.approx(scale * expected, rel=1e-9)


def test_kernel_equals_a_naive_loop():
    real, synthetic = samples(classes=1)
    r, s = real[0].numpy(), synthetic[0].numpy()
    spread = sum(np.sum((x - y) ** 2) for x in r for y in r) / (12 * 11)

    def mean_kernel(a, b, width):
        return np.mean([np.exp(-np.sum((x - y) ** 2) / width) for x in a for y in b])

    terms = [
        width / 2 * (mean_kernel(r, r, width) - 2 * mean_kernel(r, s, width) + mean_kernel(s, s, width))
        for width in (spread * m for m in (0.25, 0.5, 1, 2, 4))
    ]
    assert distance_between(Kernel(), real, synthetic).item() == pytest.approx(np.mean(terms), rel=1e-9)


def test_kernel_tends_to_mean_matching_as_its_bandwidth_grows():
    real, synthetic = samples()
    wide = distance_between(Kernel(bandwidths=(1e6,)), real, synthetic)
    torch.testing.assert_close(wide, distance_between("mean", real, synthetic), rtol=1e-4, atol=0)


def test_characteristic_equals_a_naive_loop():
    real, synthetic = samples(classes=1)
    distance = Characteristic(frequencies=30)
    target = distance.target(real, 5, torch.Generator().manual_seed(2))
    r, s = real[0].numpy(), synthetic[0].numpy()
    spread = 2 * r.var(axis=0, ddof=1).sum()
    terms = [
        abs(np.mean([np.exp(1j * t @ x) for x in r]) - np.mean([np.exp(1j * t @ x) for x in s])) ** 2
        for t in target[0].numpy().T / math.sqrt(spread)
    ]
    assert distance.loss(target, synthetic).item() == pytest.approx(spread * np.mean(terms), rel=1e-9)


@pytest.mark.parametrize(("amplitude", "phase"), [(0.5, 0.5), (0.9, 0.1), (0.1, 0.9)])
def test_ncfm_equals_a_naive_loop_over_amplitudes_and_phases(amplitude, phase):
    real, synthetic = (sample[0] for sample in samples())
    ncfm = AmplitudePhase(frequencies=5, amplitude=amplitude, phase=phase)
    target = ncfm.target(real, len(synthetic), torch.Generator().manual_seed(2))
    total = 0.0
    for t in target[0].T.numpy():
        phi_x, phi_s = (
            np.mean([np.exp(1j * t @ (row / np.linalg.norm(row))) for row in sample.numpy()])
            for sample in (real, synthetic)
        )
        in_amplitude = (abs(phi_x) - abs(phi_s)) ** 2
        in_phase = 2 * (abs(phi_x) * abs(phi_s) - (phi_x * phi_s.conjugate()).real)
        total += np.sqrt(2 * (amplitude * in_amplitude + phase * in_phase)) / 5
        if amplitude == phase:
            np.testing.assert_allclose(in_amplitude + in_phase, abs(phi_x - phi_s) ** 2, atol=1e-12)
    np.testing.assert_allclose(ncfm.loss(target, synthetic), target[1] * total, rtol=1e-5)


def test_characteristic_is_in_expectation_the_gaussian_kernel_discrepancy():
    real, synthetic = samples()
    many = distance_between(Characteristic(frequencies=200_000), real, synthetic)
    torch.testing.assert_close(
        many, distance_between(Kernel(bandwidths=(2.0,)), real, synthetic), rtol=0.02, atol=0
    )


def test_random_directions_come_from_the_generator():
    real, synthetic = samples()
    for name in RANDOM:
        first, again, other = (distance_between(name, real, synthetic, seed=seed) for seed in (0, 0, 1))
        assert first.equal(again)
        assert not first.equal(other)


def test_lqm_pulls_an_outlier_in_where_the_mean_leaves_it():
    """The paper's figure 1: a sample with the right mean and one value beyond the real range."""
    real = ((torch.arange(200) + 0.5) / 200).view(-1, 1)
    start = torch.tensor([0.1, 0.2, 0.2, 0.5, 1.5]).view(-1, 1)
    ends = {}
    for name in ("mean", "lqm"):
        synthetic = start.clone().requires_grad_()
        optimizer = torch.optim.SGD([synthetic], lr=0.5)
        for _ in range(100):
            optimizer.zero_grad()
            distance_between(name, real, synthetic).backward()
            optimizer.step()
        ends[name] = synthetic.detach()
    torch.testing.assert_close(ends["mean"], start)
    assert ends["mean"].max() > real.max()
    torch.testing.assert_close(
        ends["lqm"].flatten(), torch.tensor([0.1, 0.3, 0.5, 0.7, 0.9]), atol=1e-3, rtol=0
    )


def test_a_bimodal_class_keeps_both_modes_under_lqm_and_not_under_the_mean():
    real = torch.cat([torch.full((50, 1), -1.0), torch.full((50, 1), 1.0)])
    middle = torch.zeros(4, 1) + torch.tensor([[-0.01], [0.0], [0.0], [0.01]])
    assert distance_between("mean", real, middle).item() == pytest.approx(0, abs=1e-12)
    assert distance_between("lqm", real, middle).item() == pytest.approx(1, abs=0.02)


def test_interpolation_rules_differ_where_the_docs_say_so():
    real = torch.randn(6, 3)
    assert distance_between(Quantile(), real, real).item() == 0
    assert distance_between(Quantile(interpolation="linear"), real, real).item() > 0
