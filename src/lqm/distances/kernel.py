"""Maximum mean discrepancy with Gaussian kernels: what the letters MMD stand for in statistics."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.distances.distance import Target
from lqm.distances.spread import mean_squared_distance, pairwise_distances


@dataclass(frozen=True)
class Kernel:
    """Squared MMD with Gaussian kernels of several bandwidths (Gretton et al. 2012; M3D uses the same five).

    Formula: mean over m of (m h / 2) (E K(x,x') - 2 E K(x,s) + E K(s,s')), K(a,b) = exp(-|a-b|^2 / (m h)),
    with h the mean squared distance of two real records. The factor m h / 2 makes each term tend to
    mean matching as its bandwidth grows.
    """

    name: str = "kernel"
    bandwidths: tuple[float, ...] = (0.25, 0.5, 1.0, 2.0, 4.0)

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The real records themselves, the bandwidths [..., B], and the kernels' own means [..., B]."""
        widths = mean_squared_distance(real).unsqueeze(-1) * real.new_tensor(self.bandwidths)
        return real, widths, _kernel_means(real, real, widths)

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One discrepancy a class, [...]."""
        real, widths, own = target
        across = _kernel_means(real, synthetic, widths)
        within = _kernel_means(synthetic, synthetic, widths)
        return (widths / 2 * (own - 2 * across + within)).mean(dim=-1)


def _kernel_means(first: Tensor, second: Tensor, widths: Tensor) -> Tensor:
    """Mean of each kernel over all pairs, [..., B]."""
    squared = pairwise_distances(first, second).square()
    return torch.stack(
        [(-squared / width[..., None, None]).exp().mean(dim=(-2, -1)) for width in widths.unbind(dim=-1)],
        dim=-1,
    )
