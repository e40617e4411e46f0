"""Amplitude and phase of characteristic functions, as in neural characteristic function matching."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.distances.distance import Target, Weight
from lqm.distances.spread import mean_squared_distance

# Below which a difference counts as none: a root has no slope at 0.
_LEAST = 1e-12


@dataclass(frozen=True)
class AmplitudePhase:
    """Mean root of the differences in amplitude and in phase, of directions of features (Wang et al. 2025).

    Formula: h * mean over t of sqrt(2a (|phi_x| - |phi_s|)^2 + 4b (|phi_x| |phi_s| - Re phi_x conj(phi_s))),
    phi(t) = E exp(i t'u),  u = features / |features|,  t ~ N(0, I),
    with h the mean squared distance of two real records. At a = b = 1/2 the root is |phi_x - phi_s|.
    """

    name: str = "ncfm"
    frequencies: int = 1024
    amplitude: Weight = 0.5
    phase: Weight = 0.5

    def __post_init__(self) -> None:
        """Refuse weights by which nothing is compared."""
        if not self.amplitude + self.phase:
            raise ValueError("amplitude and phase are both 0; give one of them a weight")

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The frequencies [F, P], the scale [...], and the real side's two parts [..., P]."""
        frequencies = torch.randn(real.shape[-1], self.frequencies, generator=generator).to(real)
        return frequencies, mean_squared_distance(real), *characteristic(real, frequencies)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One difference a class, [...]."""
        frequencies, scale, *real = target
        return scale * self.difference((real[0], real[1]), characteristic(synthetic, frequencies))

    def difference(self, real: tuple[Tensor, Tensor], synthetic: tuple[Tensor, Tensor]) -> Tensor:
        """The mean root between two characteristic functions, each by its two parts [..., P]."""
        (cosine, sine), (own_cosine, own_sine) = real, synthetic
        whole = (cosine - own_cosine).square() + (sine - own_sine).square()
        lengths = (_modulus(cosine, sine) - _modulus(own_cosine, own_sine)).square()
        # 2 (|x| |s| - Re x conj(s)) is |x - s|^2 - (|x| - |s|)^2.
        squared = 2 * self.phase * whole + 2 * (self.amplitude - self.phase) * lengths
        return (squared.clamp_min(0) + _LEAST).sqrt().sub(_LEAST**0.5).mean(dim=-1)


def characteristic(sample: Tensor, frequencies: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary part of the characteristic function of the directions of features, [..., P]."""
    angle = F.normalize(sample, dim=-1) @ frequencies
    return angle.cos().mean(dim=-2), angle.sin().mean(dim=-2)


def _modulus(cosine: Tensor, sine: Tensor) -> Tensor:
    return (cosine.square() + sine.square() + _LEAST).sqrt()
