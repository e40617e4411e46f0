"""The scale of a sample: what bandwidths and frequencies are measured in."""

import torch
from torch import Tensor


def mean_squared_distance(real: Tensor) -> Tensor:
    """Mean squared Euclidean distance of two different records; 1 where all records are equal.

    Shapes: real [..., n, F]; result [...].
    """
    if real.shape[-2] < 2:
        return torch.ones_like(real[..., 0, 0])
    spread = 2 * real.var(dim=-2).sum(dim=-1)
    return torch.where(spread > 0, spread, torch.ones_like(spread))


def pairwise_distances(first: Tensor, second: Tensor) -> Tensor:
    """Euclidean distances of all pairs, [..., n, m], without the rounding of the matrix-product shortcut."""
    return torch.cdist(first, second, compute_mode="donot_use_mm_for_euclid_dist")
