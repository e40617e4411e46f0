"""Matching of the first four moments."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lqm.distances.distance import Needs, Target

_FLOOR = 1e-4


@dataclass(frozen=True)
class Moments:
    """Squared differences of mean, standard deviation, skewness and kurtosis, summed over features.

    Formula: sum_f (d mean)^2 + (d sigma)^2 + sigma_real^2 ((d skewness)^2 + (d kurtosis)^2)

    The shape terms carry the real variance so that all four are in squared units of the feature. A
    small share of the real variance is added to both variances before dividing: a synthetic feature
    that has collapsed to a point keeps a finite gradient.
    """

    name: str = "moments"
    needs: ClassVar[Needs] = "quantiles"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The four moments of the real side, each [..., F], and the floor of the variance."""
        floor = _FLOOR * real.var(dim=-2, correction=0)
        return *_moments(real, floor), floor

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One sum of squared differences a class, [...]."""
        mean, deviation, skewness, kurtosis, floor = target
        own_mean, own_deviation, own_skewness, own_kurtosis = _moments(synthetic, floor)
        shape = (skewness - own_skewness).square() + (kurtosis - own_kurtosis).square()
        size = (mean - own_mean).square() + (deviation - own_deviation).square()
        return (size + floor / _FLOOR * shape).sum(dim=-1)


def _moments(sample: Tensor, floor: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    mean = sample.mean(dim=-2, keepdim=True)
    centred = sample - mean
    # The smallest normal number keeps a feature that is constant on both sides from dividing 0 by 0.
    variance = centred.square().mean(dim=-2) + floor + torch.finfo(sample.dtype).tiny
    deviation = variance.sqrt()
    standard = centred / deviation.unsqueeze(-2)
    return mean.squeeze(-2), deviation, standard.pow(3).mean(dim=-2), standard.pow(4).mean(dim=-2)
