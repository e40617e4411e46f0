"""Layers that are differentiated twice on a CPU, with second derivatives that cost less than torch's own.

torch finds the second derivative of a convolution by its weight even where nobody asks for it, and by kernels
as large as the maps; of an instance norm both derivatives, as soon as there are two, by dozens of passes over
the maps; and its pooling takes longer than a norm and an activation together.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from lqm.methods.twice.convolution import Convolution, Geometry
from lqm.methods.twice.norm import InstanceNorm
from lqm.methods.twice.pooling import Halving

__all__ = ["differentiated_twice"]


def differentiated_twice(images: Tensor, *, constant: bool) -> AbstractContextManager[object]:
    """Within it a network is run whose gradient by its weights will be differentiated by its images.

    The first gradient has a graph and is by weights alone; the second has none. On other devices than a CPU,
    and in a lower precision, all stays as it is.

    Args:
        images: what the network is given.
        constant: whether the second gradient is by the images alone, and not by the weights too.
    """
    if images.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
        return nullcontext()
    return _Cheaper(images, constant)


class _Cheaper(TorchFunctionMode):
    def __init__(self, images: Tensor, constant: bool) -> None:
        super().__init__()
        self._images, self._constant = images, constant

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        named = kwargs or {}
        if func is torch.conv2d:
            return self._convolve(*args, **named)
        if func is torch.nn.functional.avg_pool2d and _halves(*args, **named):
            return Halving.apply(args[0] if args else named["input"])  # type: ignore[no-untyped-call]
        if func is torch.nn.functional.group_norm and _normalises_each_map(*args, **named):
            return self._normalise(*args, **named)
        return func(*args, **named)

    def _convolve(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        if isinstance(padding, str):
            return torch.conv2d(input, weight, bias, stride, padding, dilation, groups)
        geometry = Geometry(_pair(stride), _pair(padding), _pair(dilation), groups)
        first = input is self._images
        found: Tensor = Convolution.apply(input, weight, bias, geometry, first, self._constant)  # type: ignore[no-untyped-call]
        return found

    def _normalise(
        self, input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, eps: float = 1e-5
    ) -> Tensor:
        found: Tensor = InstanceNorm.apply(input.contiguous(), weight, bias, eps, self._constant)  # type: ignore[no-untyped-call]
        return found


def _normalises_each_map(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> bool:
    """Whether a group norm is an instance norm of maps with a learned weight and bias."""
    learned = weight is not None and bias is not None
    return input.ndim == 4 and num_groups == input.shape[1] and learned


def _halves(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> bool:
    """Whether a pooling takes the means of 2 x 2 pixels that lie side by side."""
    sides = _pair(kernel_size), _pair(stride or kernel_size), _pair(padding)
    even = input.shape[-1] % 2 == 0 and input.shape[-2] % 2 == 0
    return sides == ([2, 2], [2, 2], [0, 0]) and even and divisor_override is None


def _pair(value: Any) -> list[int]:
    return [value, value] if isinstance(value, int) else [*value] * (3 - len(value))
