"""Difference of empirical characteristic functions."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.distances.distance import Target
from lqm.distances.spread import mean_squared_distance


@dataclass(frozen=True)
class Characteristic:
    """Mean squared modulus of the difference of the characteristic functions at random frequencies.

    Formula: h * mean over t of |E exp(i t'x) - E exp(i t's)|^2,  t ~ N(0, I/h),
    with h the mean squared distance of two real records. In expectation over t this is the squared MMD
    with the kernel exp(-|a-b|^2 / (2h)), scaled as `kernel` scales it.
    """

    name: str = "characteristic"
    frequencies: int = 1024

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The frequencies before scaling [F, P], the scale [...], and the real side's two parts [..., P]."""
        frequencies = torch.randn(real.shape[-1], self.frequencies, generator=generator).to(real)
        scale = mean_squared_distance(real)
        return frequencies, scale, *_characteristic(real, frequencies, scale)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One difference a class, [...]."""
        frequencies, scale, cosine, sine = target
        own_cosine, own_sine = _characteristic(synthetic, frequencies, scale)
        modulus = (cosine - own_cosine).square() + (sine - own_sine).square()
        return scale * modulus.mean(dim=-1)


def _characteristic(sample: Tensor, frequencies: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    angle = sample @ frequencies / scale.sqrt()[..., None, None]
    return angle.cos().mean(dim=-2), angle.sin().mean(dim=-2)
