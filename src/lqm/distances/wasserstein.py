"""Squared Wasserstein-2 distances, feature by feature or along random directions."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lqm.distances.distance import Needs, Target
from lqm.distances.quantiles import sorted_columns, sorted_records


@dataclass(frozen=True)
class Wasserstein:
    """Exact W2^2 of each feature between n real and k synthetic points, summed over features.

    Formula: sum_f integral over u in [0,1] of (Q_real(u)_f - Q_synthetic(u)_f)^2

    The synthetic quantile function is constant on each of k equal bins, so the integral is the squared
    distance to the bins' means plus the spread of the real side within its bins. LQM is its midpoint rule:
    it aims at the bins' medians instead.
    """

    name: str = "wasserstein"
    needs: ClassVar[Needs] = "quantiles"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The means of the real side in each of k bins, [..., k, F], and the spread within bins, [..., F]."""
        centre = real.mean(dim=-2, keepdim=True)
        columns = sorted_columns(real - centre)
        bins = (columns @ _overlap(real.shape[-2], k).to(real).T).transpose(-2, -1)
        within = columns.square().mean(dim=-1) - bins.square().mean(dim=-2)
        return bins + centre, within.clamp(min=0)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One distance a class, [...]."""
        bins, within = target
        difference = bins - sorted_records(synthetic, bins.shape[-2])
        return (difference.square().mean(dim=-2) + within).sum(dim=-1)


@dataclass(frozen=True)
class SlicedWasserstein:
    """W2^2 along random directions of the joint feature space, times the number of features.

    Formula: F * mean over directions t of W2^2(real t, synthetic t), |t| = 1. The factor F gives a shift of
    the mean the same loss, on average, as summing over features does.
    """

    name: str = "sliced-wasserstein"
    directions: int = 256

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The directions, [F, P], and the target of `Wasserstein` for the projections."""
        directions = torch.randn(real.shape[-1], self.directions, generator=generator).to(real)
        directions = directions / directions.norm(dim=0)
        return directions, *Wasserstein().target(real @ directions, k)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One distance a class, [...]."""
        directions, *projected = target
        total = Wasserstein().loss(tuple(projected), synthetic @ directions)
        return total * (synthetic.shape[-1] / self.directions)


def _overlap(n: int, k: int) -> Tensor:
    """Share of real point i of n in synthetic bin j of k, [k, n], in float64; each row sums to 1."""
    point = torch.arange(n) * k
    bin_ = (torch.arange(k) * n).unsqueeze(1)
    shared = torch.minimum(point + k, bin_ + n) - torch.maximum(point, bin_)
    return shared.clamp(min=0).double() / n
