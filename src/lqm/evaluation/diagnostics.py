"""How well a synthetic sample keeps a real distribution, by feature: the paper's figures as numbers."""

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from lqm.distances.levels import cramer_von_mises_levels
from lqm.distances.quantiles import column_quantiles, sorted_columns


def cramer_von_mises(real: Tensor, synthetic: Tensor, ties: Literal["midrank", "ecdf"] = "midrank") -> Tensor:
    """Two-sample Cramer-von Mises statistic of every feature of every class at once (Anderson 1962).

    Formula: n k / (n+k)^2 * sum over all n+k values z of (F_real(z) - F_synthetic(z))^2

    Without ties both rules give just this. With ties, "midrank" equals `scipy.stats.cramervonmises_2samp`,
    whose value rises with the number of ties even where the distributions are equal; "ecdf" keeps to the
    formula, is 0 there, and so is the one to average over ReLU features, many of which are exactly 0.

    Shapes: real [..., n, F], synthetic [..., k, F]; result [..., F] in float64.

    Example:
        >>> cramer_von_mises(torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]])).item()
        0.375
    """
    columns, own = sorted_columns(real), sorted_columns(synthetic)
    n, k = columns.shape[-1], own.shape[-1]
    if ties == "ecdf":
        return (_ecdf_gap(columns, own) + _ecdf_gap(own, columns)) * (n * k / (n + k) ** 2)
    total = n * _midrank_excess(columns, own) + k * _midrank_excess(own, columns)
    return total / (n * k * (n + k)) - (4 * n * k - 1) / (6 * (n + k))


def _ecdf_gap(own: Tensor, other: Tensor) -> Tensor:
    """Squared difference of the two distribution functions, summed over one sample's values."""
    own_share = _up_to(own).double() / own.shape[-1]
    other_share = torch.searchsorted(other, own, right=True).double() / other.shape[-1]
    return (own_share - other_share).square().sum(dim=-1)


def _midrank_excess(own: Tensor, other: Tensor) -> Tensor:
    """Squared difference of a value's midrank in the joint sample and its place in its own, summed."""
    below = _below(own) + torch.searchsorted(other, own)
    up_to = _up_to(own) + torch.searchsorted(other, own, right=True)
    place = torch.arange(1, own.shape[-1] + 1, device=own.device)
    return ((below + up_to + 1).double() / 2 - place).square().sum(dim=-1)


def _below(ascending: Tensor) -> Tensor:
    """How many values of a sorted sample are below each of them: the place where its run of ties begins."""
    place = torch.arange(ascending.shape[-1], device=ascending.device).expand(ascending.shape).clone()
    place[..., 1:][ascending[..., 1:] == ascending[..., :-1]] = 0
    return place.cummax(dim=-1).values


def _up_to(ascending: Tensor) -> Tensor:
    """How many values of a sorted sample are at or below each of them."""
    return ascending.shape[-1] - _below(ascending.flip(-1)).flip(-1)


def extreme_share(real: Tensor, synthetic: Tensor) -> Tensor:
    """Share of synthetic values outside the real class's range of the same feature (the paper's extremes).

    A hundred-thousandth of the range is allowed for: batches of different sizes round differently, and a
    real record would else be found outside its own range.

    Shapes: real [..., n, F], synthetic [..., k, F]; result [...].
    """
    low, high = real.amin(dim=-2, keepdim=True), real.amax(dim=-2, keepdim=True)
    slack = 1e-5 * (high - low)
    return ((synthetic < low - slack) | (synthetic > high + slack)).double().mean(dim=(-2, -1))


def ecdf(sample: Tensor) -> tuple[Tensor, Tensor]:
    """Empirical distribution function of one feature: its distinct values, and the share at or below each.

    Shapes: sample [n]; both results [number of distinct values].

    Example:
        >>> ecdf(torch.tensor([2.0, 1.0, 2.0, 5.0]))
        (tensor([1., 2., 5.]), tensor([0.2500, 0.7500, 1.0000]))
    """
    values, counts = sample.unique(return_counts=True)
    return values, counts.cumsum(0) / len(sample)


def optimal_points(real: Tensor, count: int) -> Tensor:
    """The values that minimise the Cramer-von Mises statistic, as many as a synthetic class has.

    Shapes: real [n, F]; result [count, F].
    """
    return column_quantiles(real, cramer_von_mises_levels(count).levels)


def ecdf_steps(sample: Tensor, most: int) -> Tensor:
    """The values of each feature in ascending order; of more than `most`, as many quantiles.

    Shapes: sample [n, F]; result [min(n, most), F].
    """
    if len(sample) <= most:
        return sample.sort(dim=0).values
    return column_quantiles(sample, np.linspace(0, 1, most))
