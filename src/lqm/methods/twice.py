"""Layers that are differentiated twice on a CPU, with second derivatives that cost less than torch's own.

torch finds the second derivative of a convolution by its weight even where nobody asks for it, and by kernels
as large as the maps; and its pooling takes longer than a norm and an activation together.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.overrides import TorchFunctionMode

Mask = tuple[bool, bool, bool]


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


class _Geometry(NamedTuple):
    """Of a convolution, as torch names it."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int

    def convolve(self, images: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        return torch.conv2d(images, weight, bias, *self)

    def backward(
        self, above: Tensor, images: Tensor, weight: Tensor, mask: Mask
    ) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        """Gradients by images, weight and bias; None where the mask says so."""
        sizes = [len(weight)]
        found: tuple[Tensor | None, Tensor | None, Tensor | None] = torch.ops.aten.convolution_backward(
            above, images, weight, sizes, *self[:3], False, [0, 0], self.groups, mask
        )
        return found


class _Convolution(Function):
    @staticmethod
    def forward(
        context: Any,
        images: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        geometry: _Geometry,
        first: bool,
        constant: bool,
    ) -> Tensor:
        context.save_for_backward(images, weight)
        context.geometry, context.first, context.constant = geometry, first, constant
        return geometry.convolve(images, weight, bias)

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        images, weight = context.saved_tensors
        # The first gradient is recorded, the second is not.
        again = not torch.is_grad_enabled()
        by_images, by_weight, by_bias = context.needs_input_grad[:3]
        mask = (
            by_images and (again or not context.first),
            by_weight and not (again and context.constant),
            by_bias and not (again and context.constant),
        )
        fixed = weight.detach() if context.constant else weight
        found = _ConvolutionBackward.apply(above, images, fixed, context.geometry, mask)  # type: ignore[no-untyped-call]
        return *found, None, None, None


class _ConvolutionBackward(Function):
    @staticmethod
    def forward(
        context: Any, above: Tensor, images: Tensor, weight: Tensor, geometry: _Geometry, mask: Mask
    ) -> tuple[Tensor | None, ...]:
        context.set_materialize_grads(False)
        context.save_for_backward(above, images, weight)
        context.geometry = geometry
        return geometry.backward(above, images, weight, mask)

    @staticmethod
    def backward(
        context: Any, to_images: Tensor | None, to_weight: Tensor | None, to_bias: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        above, images, weight = context.saved_tensors
        geometry, (by_above, by_images, by_weight, *_) = context.geometry, context.needs_input_grad
        parts: list[Tensor] = []
        if by_above and to_weight is not None:
            parts.append(geometry.convolve(images, to_weight, to_bias))
        elif by_above and to_bias is not None:
            parts.append(to_bias.reshape(-1, 1, 1).expand_as(above))
        if by_above and to_images is not None:
            parts.append(geometry.convolve(to_images, weight))
        found: list[Tensor | None] = [sum(parts[1:], parts[0]) if parts else None, None, None]
        if by_images and to_weight is not None:
            found[1] = geometry.backward(above, images, to_weight, (True, False, False))[0]
        if by_weight and to_images is not None:
            found[2] = geometry.backward(above, to_images, weight, (False, True, False))[1]
        return *found, None, None


class _Halving(Function):
    """Means of 2 x 2 pixels."""

    @staticmethod
    def forward(context: Any, maps: Tensor) -> Tensor:
        rows = maps.unflatten(-2, (-1, 2))
        pairs = (rows[..., 0, :] + rows[..., 1, :]).unflatten(-1, (-1, 2))
        found: Tensor = (pairs[..., 0] + pairs[..., 1]).mul_(0.25)
        return found

    @staticmethod
    def backward(context: Any, above: Tensor) -> Tensor:
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
        found: Tensor = _Halving.apply(above)  # type: ignore[no-untyped-call]
        return found


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
            return _Halving.apply(args[0] if args else named["input"])  # type: ignore[no-untyped-call]
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
        geometry = _Geometry(_pair(stride), _pair(padding), _pair(dilation), groups)
        first = input is self._images
        found: Tensor = _Convolution.apply(input, weight, bias, geometry, first, self._constant)  # type: ignore[no-untyped-call]
        return found


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
