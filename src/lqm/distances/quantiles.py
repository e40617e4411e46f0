"""Column quantiles and column sorts of a batch of samples, fast and exact."""

from functools import lru_cache
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Interpolation = Literal["hazen", "linear"]


def sorted_columns(sample: Tensor) -> Tensor:
    """Sort each column of a sample; no gradient.

    On a CPU numpy's SIMD sort of a contiguous last axis is many times faster than torch's.

    Shapes: sample [..., n, F]; result [..., F, n], ascending along the last axis.
    """
    columns = sample.detach().transpose(-2, -1)
    if sample.device.type != "cpu" or sample.dtype not in (torch.float32, torch.float64):
        return columns.sort(dim=-1).values
    copy = columns.clone(memory_format=torch.contiguous_format)
    copy.numpy().sort(axis=-1)
    return copy


def column_quantiles(
    sample: Tensor, levels: NDArray[np.float64], interpolation: Interpolation = "hazen"
) -> Tensor:
    """Quantiles of every column at the given levels, as `numpy.quantile(method=interpolation)`; no gradient.

    Level q stands at position n q - 1/2 of the sorted column ("hazen": the levels (2i-1)/(2n) are the
    order statistics themselves) or at q (n-1) ("linear", torch's rule). A column with a NaN is NaN.

    Shapes: sample [..., n, F]; levels [k]; result [..., k, F].

    Example:
        >>> column_quantiles(torch.tensor([[3.0], [1.0], [2.0]]), np.array([0.5])).item()
        2.0
    """
    n = sample.shape[-2]
    if n == 0:
        raise ValueError("a sample without records has no quantiles")
    if levels.size and not (levels.min() >= 0 and levels.max() <= 1):
        raise ValueError("levels lie between 0 and 1")
    below, above, fraction = (
        part.to(sample.device) for part in _positions(levels.tobytes(), n, interpolation, sample.dtype)
    )
    columns = sorted_columns(sample)
    quantiles = columns.index_select(-1, below).lerp_(columns.index_select(-1, above), fraction)
    return quantiles.masked_fill_(columns[..., -1:].isnan(), torch.nan).transpose(-2, -1)


@lru_cache(maxsize=4096)
def _positions(
    levels: bytes, n: int, interpolation: Interpolation, dtype: torch.dtype
) -> tuple[Tensor, Tensor, Tensor]:
    """Between which of n sorted values each level stands, and where between them; the same at every step."""
    wanted = np.frombuffer(levels)
    position = np.clip(n * wanted - 0.5 if interpolation == "hazen" else wanted * (n - 1), 0, n - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, n - 1)
    return torch.from_numpy(below), torch.from_numpy(above), torch.tensor(position - below, dtype=dtype)


def sorted_records(synthetic: Tensor, k: int) -> Tensor:
    """Sort each column of the synthetic side, differentiably, after checking that it has k records.

    Shapes: synthetic [..., k, F]; result [..., k, F].
    """
    if synthetic.shape[-2] != k:
        raise ValueError(f"the target was made for {k} synthetic records, not for {synthetic.shape[-2]}")
    return synthetic.sort(dim=-2).values
