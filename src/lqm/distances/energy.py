"""The energy distance."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.distances.distance import Target
from lqm.distances.spread import mean_squared_distance, pairwise_distances


@dataclass(frozen=True)
class Energy:
    """Energy distance of the joint features (Szekely & Rizzo 2013), times the real sample's scale.

    Formula: sqrt(h) (2 E|x-s| - E|x-x'| - E|s-s'|), h the mean squared distance of two real records.
    """

    name: str = "energy"

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The real records themselves, their own mean distance, and the scale."""
        own = pairwise_distances(real, real).mean(dim=(-2, -1))
        return real, own, mean_squared_distance(real).sqrt()

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One distance a class, [...]."""
        real, own, scale = target
        across = pairwise_distances(real, synthetic).mean(dim=(-2, -1))
        within = pairwise_distances(synthetic, synthetic).mean(dim=(-2, -1))
        return scale * (2 * across - own - within)
