"""Latent Quantile Matching, the heart of this package."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from lqm.distances.distance import Needs, Target
from lqm.distances.levels import anderson_darling_levels, cramer_von_mises_levels
from lqm.distances.quantiles import Interpolation, column_quantiles, sorted_records


@dataclass(frozen=True)
class Quantile:
    """Squared distance of the sorted synthetic features to the optimal quantiles (Wei et al. 2024, LQM).

    Formula: sum_f sum_i w_i (Q_real(q_i)_f - sort(synthetic)_{i,f})^2, with w_i = 1/k unless weighted.

    The levels q_i minimise the Cramer-von Mises or the Anderson-Darling statistic of a k-point
    approximation. Hazen's interpolation makes the first kind exactly 0 when both samples are equal.
    """

    name: str = "lqm"
    statistic: Literal["cramer-von-mises", "anderson-darling"] = "cramer-von-mises"
    weighted: bool = False
    interpolation: Interpolation = "hazen"
    needs: ClassVar[Needs] = "quantiles"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The quantiles, [..., k, F], and their weights, [k]."""
        best = (
            cramer_von_mises_levels(k) if self.statistic == "cramer-von-mises" else anderson_darling_levels(k)
        )
        weights = best.weights if self.weighted else cramer_von_mises_levels(k).weights
        quantiles = column_quantiles(real, best.levels, self.interpolation)
        return quantiles, torch.tensor(weights, dtype=real.dtype, device=real.device)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One weighted squared distance a class, [...]."""
        quantiles, weights = target
        difference = quantiles - sorted_records(synthetic, len(weights))
        return (weights @ difference.square()).sum(dim=-1)
