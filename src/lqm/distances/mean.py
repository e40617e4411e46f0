"""Matching of means: what the field calls MMD."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from lqm.distances.distance import Needs, Target


@dataclass(frozen=True)
class Mean:
    """Squared difference of the means, summed over features (Zhao & Bilen 2023, DM).

    Formula: sum_f (mean(real)_f - mean(synthetic)_f)^2
    """

    name: str = "mean"
    needs: ClassVar[Needs] = "mean"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The mean, [..., F]."""
        return (real.mean(dim=-2),)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One squared difference a class, [...]."""
        (mean,) = target
        return (mean - synthetic.mean(dim=-2)).square().sum(dim=-1)
