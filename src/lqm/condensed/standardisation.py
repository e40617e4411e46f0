"""Features of one scale: each less its mean, by its standard deviation."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce

import torch
from torch import Tensor

# Rows whose squares are summed at a time, in double precision.
_AT_ONCE = 1 << 16


@dataclass(frozen=True, eq=False)
class Standardisation:
    """Mean and scale of each feature, [F], in double precision.

    Formula: z = (x - mean) / scale, where the scale of a feature that is constant is 1
    """

    mean: Tensor
    scale: Tensor

    @classmethod
    def of(cls, features: Tensor) -> "Standardisation":
        """Mean and standard deviation (of the population, as in scikit-learn) of features [N, F]."""
        low = features.amin(dim=0).double()
        constant = low == features.amax(dim=0).double()
        parts = features.split(_AT_ONCE)
        mean = _total(part.double().sum(dim=0) for part in parts) / len(features)
        squares = _total((part.double() - mean).square().sum(dim=0) for part in parts)
        scale = (squares / len(features)).sqrt()
        return cls(torch.where(constant, low, mean), scale.masked_fill(constant, 1.0))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all its numbers."""
        return hashlib.sha256(self.mean.numpy().tobytes() + self.scale.numpy().tobytes()).hexdigest()

    def apply(self, features: Tensor) -> Tensor:
        """Standardised features, float32."""
        return torch.cat(
            [((part.double() - self.mean) / self.scale).float() for part in features.split(_AT_ONCE)]
        )

    def undo(self, features: Tensor) -> Tensor:
        """Features in the units of the source, float64."""
        return features.double() * self.scale + self.mean


def _total(parts: Iterable[Tensor]) -> Tensor:
    return reduce(torch.add, parts)
