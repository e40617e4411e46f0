"""Mean and shape: what it becomes at its ends, and against plain loops."""

import numpy as np
import pytest
import torch

from lqm.distances import DISTANCES
from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.shape import Shape
from lqm.methods.named_distance import named_distance
from lqm.utils.errors import ConfigError


@pytest.fixture
def samples():
    """Skewed features, as after a ReLU."""
    draws = torch.Generator().manual_seed(0)
    real, synthetic = (torch.randn(3, n, 5, generator=draws, dtype=torch.float64).relu() for n in (40, 6))
    return real, synthetic


def loss(distance, real, synthetic):
    return distance.loss(distance.target(real, synthetic.shape[-2]), synthetic)


@pytest.mark.parametrize("aim", ["quantiles", "bins"])
def test_equals_a_plain_loop(samples, aim):
    real, synthetic = (part[0].numpy() for part in samples)
    k, total = len(synthetic), 0.0
    for x, s in zip(real.T, synthetic.T, strict=True):
        if aim == "quantiles":
            aims = np.quantile(x, cramer_von_mises_levels(k).levels, method="hazen")
        else:  # 40 records in 6 bins: each record is divided into three, so that a bin has 20 of them
            aims = np.repeat(np.sort(x), 3).reshape(k, -1).mean(axis=1)
        about, own = aims - aims.mean(), np.sort(s) - s.mean()
        total += (x.mean() - s.mean()) ** 2 + 2.5 / k * sum((about - own) ** 2)
    found = loss(Shape(weight=2.5, aim=aim), *samples)[0]
    assert found.item() == pytest.approx(total)


def test_without_weight_or_with_one_record_it_is_the_distance_of_means(samples):
    real, synthetic = samples
    for distance, own in ((Shape(weight=0), synthetic), (Shape(weight=7), synthetic[:, :1])):
        torch.testing.assert_close(loss(distance, real, own), loss(DISTANCES["mean"], real, own))


def test_with_weight_one_it_is_lqm_but_for_the_mean_and_wasserstein_but_for_a_constant(samples):
    real, synthetic = samples
    quantiles = DISTANCES["lqm"].target(real, 6)[0]
    own = synthetic.mean(dim=-2)
    other = (quantiles.mean(dim=-2) - own).square().sum(dim=-1)
    expected = loss(DISTANCES["lqm"], real, synthetic) - other + loss(DISTANCES["mean"], real, synthetic)
    torch.testing.assert_close(loss(Shape(weight=1), real, synthetic), expected)
    within = DISTANCES["wasserstein"].target(real, 6)[1].sum(dim=-1)
    expected = loss(DISTANCES["wasserstein"], real, synthetic) - within
    torch.testing.assert_close(loss(Shape(weight=1, aim="bins"), real, synthetic), expected)


def test_a_shift_costs_the_mean_alone_and_records_about_the_mean_the_shape_alone(samples):
    real, _ = samples
    moved = loss(Shape(weight=100), real, real + 0.5)
    torch.testing.assert_close(moved, torch.full_like(moved, 5 * 0.25))
    about = real.mean(dim=-2, keepdim=True)
    wide = loss(Shape(weight=100), real, about + 2 * (real - about))
    torch.testing.assert_close(wide, 100 * loss(Shape(weight=1), real, about + 2 * (real - about)))


def test_gradients_are_those_of_finite_differences(samples):
    real, synthetic = (part[0] for part in samples)
    distance = Shape(weight=3)
    target = distance.target(real, 6)
    apart = synthetic + torch.arange(30, dtype=torch.float64).reshape(6, 5) / 7  # no ties
    assert torch.autograd.gradcheck(lambda s: distance.loss(target, s), apart.requires_grad_())


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("shape:weight=-1", "weight of shape is '-1'"),
        ("shape:weight=nan", "weight of shape is 'nan'"),
        ("shape:weight=inf", "weight of shape is 'inf'"),
        ("shape:weight=1e39", "weight of shape is '1e39'"),
        ("ncfm:amplitude=0:phase=0", "both 0"),
        ("ncfm:frequencies=99999999999", "frequencies of ncfm"),
        ("kernel:bandwidths=a,b", "bandwidths of kernel is 'a,b'"),
        ("shape:aim=means", "'means'.*'quantiles'|quantiles"),
        ("shape:wieght=3", "'wieght'.*'weight'"),
        ("shape:3", "'3' is no option of distance 'shape'"),
        ("mean:weight=3", "distance 'mean' has no options"),
        ("shap:weight=3", "'shap'.*'shape'"),
    ],
)
def test_options_that_a_distance_has_not_are_refused(spec, words):
    with pytest.raises(ConfigError, match=words):
        named_distance(spec)


def test_the_name_has_the_options_and_names_the_same_distance_again():
    found = named_distance("characteristic:frequencies=64")
    assert (found.name, found.frequencies) == ("characteristic:frequencies=64", 64)
    assert named_distance(found.name) == found
    assert named_distance("lqm") is DISTANCES["lqm"]
    assert named_distance("lqm:weighted=true:statistic=anderson-darling").name == (
        "lqm:statistic=anderson-darling:weighted=true"
    )
    wide = named_distance("kernel:bandwidths=1,2")
    assert (wide.name, wide.bandwidths) == ("kernel:bandwidths=1.0,2.0", (1.0, 2.0))


def test_an_option_at_its_default_is_no_part_of_the_name():
    assert named_distance("shape:weight=3") == DISTANCES["shape"]


def test_the_weight_is_the_rate_of_the_shape_the_curvature_of_all_directions_but_one(samples):
    real, _ = samples
    values = torch.tensor([0.1, 0.5, 0.2, 0.9, 0.7, 0.3], dtype=torch.float64)
    distance = Shape(weight=3)
    target = distance.target(real[:1, :, :1], 6)

    def of_values(own):
        return distance.loss(target, own.view(1, 6, 1)).sum()

    curvatures = torch.linalg.eigvalsh(torch.autograd.functional.hessian(of_values, values))
    expected = torch.tensor([2 / 6, *[2 * 3 / 6] * 5], dtype=torch.float64)
    torch.testing.assert_close(curvatures, expected)
