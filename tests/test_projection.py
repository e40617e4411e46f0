"""The plane of a map is that of scikit-learn's principal component analysis."""

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from lqm.evaluation.projection import principal_plane


def drawn(n, features, seed=0):
    draws = torch.Generator().manual_seed(seed)
    scales = torch.linspace(3, 0.1, features)
    return torch.randn(n, features, generator=draws) * scales + torch.arange(features)


@pytest.mark.parametrize(("n", "features"), [(60, 7), (7, 60), (30, 30), (2, 5), (40, 2)])
def test_the_plane_is_that_of_scikit_learn(n, features):
    real, other = drawn(n, features), drawn(11, features, seed=1)
    oracle = PCA(n_components=2, svd_solver="full").fit(real.double().numpy())
    plane = principal_plane(real)
    assert plane.explained == pytest.approx(oracle.explained_variance_ratio_, abs=1e-9)
    for features_of in (real, other):
        found, expected = (
            plane.coordinates(features_of).numpy(),
            oracle.transform(features_of.double().numpy()),
        )
        for axis in range(2):
            if oracle.explained_variance_ratio_[axis] < 1e-9:
                assert not found[:, axis].any(), "two records lie on a line"
                continue
            sign = np.sign(found[:, axis] @ expected[:, axis])
            assert found[:, axis] == pytest.approx(sign * expected[:, axis], abs=1e-6)


def test_the_largest_component_of_each_axis_is_positive():
    plane = principal_plane(drawn(50, 6))
    places = plane.axes.abs().argmax(dim=0)
    assert (plane.axes.gather(0, places[None]) > 0).all()
    assert torch.allclose(plane.axes.T @ plane.axes, torch.eye(2, dtype=torch.float64))


@pytest.mark.parametrize("real", [torch.ones(1, 4), torch.ones(5, 4), torch.ones(5, 1)])
def test_records_that_do_not_vary_lie_at_the_origin(real):
    plane = principal_plane(real)
    assert plane.explained == (0, 0)
    assert not plane.coordinates(real + 1).any()


def test_one_feature_makes_one_axis():
    plane = principal_plane(torch.tensor([[1.0], [3.0]]))
    assert plane.explained == (1, 0)
    assert plane.coordinates(torch.tensor([[2.5]])).tolist() == [[0.5, 0]]
