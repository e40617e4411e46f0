"""Pooling by means of 2 x 2 pixels, by sums of rows and of pairs."""

from typing import Any

from torch import Tensor
from torch.autograd import Function


class Halving(Function):
    """Means of 2 x 2 pixels."""

    @staticmethod
    def forward(context: Any, maps: Tensor) -> Tensor:
        """Rows first, then pairs."""
        rows = maps.unflatten(-2, (-1, 2))
        pairs = (rows[..., 0, :] + rows[..., 1, :]).unflatten(-1, (-1, 2))
        found: Tensor = (pairs[..., 0] + pairs[..., 1]).mul_(0.25)
        return found

    @staticmethod
    def backward(context: Any, above: Tensor) -> Tensor:
        """A quarter for each pixel."""
        found: Tensor = _Doubling.apply(above)  # type: ignore[no-untyped-call]
        return found


class _Doubling(Function):
    """A quarter of each pixel in each of 2 x 2 pixels."""

    @staticmethod
    def forward(context: Any, maps: Tensor) -> Tensor:
        *batch, height, width = maps.shape
        wide = (0.25 * maps).reshape(-1, 1).expand(-1, 2).reshape(*batch, height, 1, 2 * width)
        return wide.expand(*batch, height, 2, 2 * width).reshape(*batch, 2 * height, 2 * width)

    @staticmethod
    def backward(context: Any, above: Tensor) -> Tensor:
        found: Tensor = Halving.apply(above)  # type: ignore[no-untyped-call]
        return found
