"""How well a synthetic sample keeps a real distribution, by feature: the paper's figures as numbers."""

import torch
from torch import Tensor

from lqm.distances.quantiles import sorted_columns


def cramer_von_mises(real: Tensor, synthetic: Tensor) -> Tensor:
    """Two-sample Cramer-von Mises statistic of every feature of every class at once.

    Equal to `scipy.stats.cramervonmises_2samp(...).statistic` (Anderson 1962), midranks for ties. Ties raise
    it: a feature that is one constant on both sides has a high value, not 0 (see `varying`).

    Shapes: real [..., n, F], synthetic [..., k, F]; result [..., F] in float64.

    Example:
        >>> cramer_von_mises(torch.tensor([[1.0], [2.0]]), torch.tensor([[3.0], [4.0]])).item()
        0.375
    """
    columns, own = sorted_columns(real), sorted_columns(synthetic)
    n, k = columns.shape[-1], own.shape[-1]
    real_excess = _midrank_excess(columns, own)
    synthetic_excess = _midrank_excess(own, columns)
    total = n * real_excess.square().sum(dim=-1) + k * synthetic_excess.square().sum(dim=-1)
    return total / (n * k * (n + k)) - (4 * n * k - 1) / (6 * (n + k))


def _midrank_excess(own: Tensor, other: Tensor) -> Tensor:
    """Midrank of each sorted value in the joint sample, less its place in its own sample."""
    below = torch.searchsorted(own, own) + torch.searchsorted(other, own)
    up_to = torch.searchsorted(own, own, right=True) + torch.searchsorted(other, own, right=True)
    place = torch.arange(1, own.shape[-1] + 1, device=own.device)
    return (below + up_to + 1).double() / 2 - place


def varying(real: Tensor) -> Tensor:
    """Which features are not one constant over the real class, and so have a distribution to match.

    Shapes: real [..., n, F]; result [..., F].
    """
    return real.amin(dim=-2) < real.amax(dim=-2)


def extreme_share(real: Tensor, synthetic: Tensor) -> Tensor:
    """Share of synthetic values outside the real class's range of the same feature (the paper's extremes).

    Shapes: real [..., n, F], synthetic [..., k, F]; result [...].
    """
    low, high = real.amin(dim=-2, keepdim=True), real.amax(dim=-2, keepdim=True)
    return ((synthetic < low) | (synthetic > high)).double().mean(dim=(-2, -1))


def ecdf(sample: Tensor) -> tuple[Tensor, Tensor]:
    """Empirical distribution function of one feature: its distinct values, and the share at or below each.

    Shapes: sample [n]; both results [number of distinct values].

    Example:
        >>> ecdf(torch.tensor([2.0, 1.0, 2.0, 5.0]))
        (tensor([1., 2., 5.]), tensor([0.2500, 0.7500, 1.0000]))
    """
    values, counts = sample.unique(return_counts=True)
    return values, counts.cumsum(0) / len(sample)
