"""Mean and shape: the two parts of quantile matching, each with a weight of its own."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from lqm.distances.distance import Needs, Target, Weight
from lqm.distances.quantile import Quantile
from lqm.distances.quantiles import sorted_records
from lqm.distances.wasserstein import Wasserstein


@dataclass(frozen=True)
class Shape:
    """Squared difference of the means, plus w times that of the sorted features about their means.

    Formula: sum_f (mean(real)_f - mean(synthetic)_f)^2 + w/k sum_i (c_{i,f} - d_{i,f})^2,
    with c the k quantiles of the real side less their mean, and d the sorted synthetic side less its mean.

    LQM is the same with w = 1 and with the mean of the k quantiles in place of the real mean, from which it
    is far where features are skewed and k is small. w = 0, or one record, is mean matching. With bins
    instead of quantiles, w = 1 is the `wasserstein` distance, but for what no synthetic record can change.
    """

    name: str = "shape"
    weight: Weight = 3.0
    aim: Literal["quantiles", "bins"] = "quantiles"
    needs: ClassVar[Needs] = "mean and shape"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The mean, [..., F], and the quantiles or bins about their own mean, [..., k, F]."""
        aims = (Quantile() if self.aim == "quantiles" else Wasserstein()).target(real, k)[0]
        return real.mean(dim=-2), aims - aims.mean(dim=-2, keepdim=True)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One loss a class, [...]."""
        mean, aims = target
        own = synthetic.mean(dim=-2, keepdim=True)
        shape = (aims - sorted_records(synthetic, aims.shape[-2]) + own).square().mean(dim=-2)
        return ((mean - own.squeeze(-2)).square() + self.weight * shape).sum(dim=-1)
