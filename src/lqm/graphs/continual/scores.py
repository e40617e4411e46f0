"""What an accuracy matrix says: how well a stream is known, and how much of it was forgotten."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Spread:
    """A number of several repeats.

    Attributes:
        each: what each repeat found.
    """

    each: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Mean over the repeats."""
        return math.fsum(self.each) / len(self.each)

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation (with n - 1); None for a single repeat."""
        if len(self.each) == 1:
            return None
        return math.sqrt(math.fsum((x - self.mean) ** 2 for x in self.each) / (len(self.each) - 1))

    def percent(self) -> str:
        """Mean and deviation in percent.

        Example:
            >>> Spread((0.7, 0.8, 0.9)).percent(), Spread((0.5,)).percent()
            ('80.0 ± 10.0', '50.0')
        """
        beyond = "" if self.deviation is None else f" ± {100 * self.deviation:.1f}"
        return f"{100 * self.mean:.1f}{beyond}"


def average_accuracies(matrices: Tensor) -> Tensor:
    """Average accuracy after each task, AA_k = mean over i <= k of A[k, i].

    Shapes: matrices [..., K, K], of which nothing above the diagonal is looked at; result [..., K].
    """
    counts = torch.arange(1, matrices.shape[-1] + 1, dtype=matrices.dtype)
    return matrices.nan_to_num().tril().sum(dim=-1) / counts


def backward_transfer(matrices: Tensor) -> Tensor | None:
    """Backward transfer, the mean over all tasks but the last of A[last, i] - A[i, i]; negative: forgetting.

    Shapes: matrices [..., K, K]; result [...]. None where there is one task, which nothing follows.
    """
    if matrices.shape[-1] == 1:
        return None
    before = matrices.diagonal(dim1=-2, dim2=-1)
    return (matrices[..., -1, :-1] - before[..., :-1]).mean(dim=-1)
