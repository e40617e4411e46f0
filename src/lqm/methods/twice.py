"""Layers that are differentiated twice on a CPU, with second derivatives that cost less than torch's own.

torch finds the second derivative of a convolution by its weight even where nobody asks for it, and by kernels
as large as the maps; of an instance norm both derivatives, as soon as there are two, by dozens of passes over
the maps; and its pooling takes longer than a norm and an activation together.
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


class _InstanceNorm(Function):
    """y = weight x^ + bias, x^ = (x - mean) r, r = 1 / sqrt(variance + eps), of each map of each image."""

    @staticmethod
    def forward(
        context: Any, maps: Tensor, weight: Tensor, bias: Tensor, eps: float, constant: bool
    ) -> Tensor:
        images, channels, *sides = maps.shape
        count = sides[0] * sides[1]
        found, mean, r = torch.native_group_norm(maps, weight, bias, images, channels, count, channels, eps)
        context.save_for_backward(maps, weight, mean, r)
        context.eps, context.constant = eps, constant
        return found

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        maps, weight, mean, r = context.saved_tensors
        by_maps, *by_others = context.needs_input_grad[:3]
        learned = [asked and (torch.is_grad_enabled() or not context.constant) for asked in by_others]
        fixed = weight.detach() if context.constant else weight
        found = _InstanceNormBackward.apply(above, maps, fixed, mean, r, context.eps, (by_maps, *learned))  # type: ignore[no-untyped-call]
        return *found, None, None


class _InstanceNormBackward(Function):
    """dx = P(weight dy), P(v) = r (v - mean v - x^ mean(v x^));  dweight = sum dy x^;  dbias = sum dy."""

    @staticmethod
    def forward(
        context: Any,
        above: Tensor,
        maps: Tensor,
        weight: Tensor,
        mean: Tensor,
        r: Tensor,
        eps: float,
        mask: Mask,
    ) -> tuple[Tensor | None, ...]:
        context.set_materialize_grads(False)
        context.save_for_backward(above, maps, weight, r)
        context.eps = eps
        images, channels, height, width = maps.shape
        sizes = images, channels, height * width, channels
        found: tuple[Tensor | None, ...] = torch.ops.aten.native_group_norm_backward(
            above.contiguous(), maps, mean, r, weight, *sizes, mask
        )
        return found

    @staticmethod
    def backward(
        context: Any, to_maps: Tensor | None, to_weight: Tensor | None, to_bias: Tensor | None
    ) -> tuple[Tensor | None, ...]:
        """The gradients by dy, x and weight of those by which are u, a and b; capitals are numbers of a map.

        by dy:      weight P(u) + a x^ + b
        by x:       P(a dy - r weight (B u + A dy)) - r^2 weight K x^
        by weight:  sum of r K
        A = mean(u x^),  B = mean(dy x^),  K = mean(u dy) - mean u mean dy - A B
        """
        above, maps, weight, r = context.saved_tensors
        images, channels, *sides = maps.shape
        count = sides[0] * sides[1]
        nothing = torch.zeros((), dtype=maps.dtype)
        # One row a map; what is one number a map is [images, channels, 1].
        dy = above.reshape(images, channels, count)
        u = torch.zeros_like(dy) if to_maps is None else to_maps.reshape(images, channels, count)
        a, b = (nothing if part is None else part.reshape(-1, 1) for part in (to_weight, to_bias))
        weight, r = weight.reshape(-1, 1), r.reshape(images, channels, 1)
        x = torch.native_group_norm(maps, None, None, images, channels, count, channels, context.eps)[0]
        x = x.reshape(images, channels, count)

        mean_u, mean_dy = u.mean(2, keepdim=True), dy.mean(2, keepdim=True)
        A, B = _mean_product(u, x), _mean_product(dy, x)
        K = _mean_product(u, dy) - mean_u * mean_dy - A * B
        slope = weight * r
        by_above = torch.addcmul(b - slope * mean_u, u, slope).addcmul_(x, a - slope * A)
        along_u, along_dy = -slope * B, a - slope * A
        along_x = -(a * B - 2 * slope * A * B) - slope * K
        by_maps = torch.addcmul(-r * (along_u * mean_u + along_dy * mean_dy), u, r * along_u)
        by_maps.addcmul_(dy, r * along_dy).addcmul_(x, r * along_x)
        by_weight = (count * r * K).sum((0, 2)) if context.needs_input_grad[2] else None
        return by_above.view_as(maps), by_maps.view_as(maps), by_weight, None, None, None, None


def _mean_product(one: Tensor, other: Tensor) -> Tensor:
    """The mean over the last dimension, which stays, of a product."""
    count = one.shape[-1]
    rows, columns = one.reshape(-1, 1, count), other.reshape(-1, count, 1)
    return torch.bmm(rows, columns).div_(count).reshape(*one.shape[:-1], 1)


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
        geometry = _Geometry(_pair(stride), _pair(padding), _pair(dilation), groups)
        first = input is self._images
        found: Tensor = _Convolution.apply(input, weight, bias, geometry, first, self._constant)  # type: ignore[no-untyped-call]
        return found

    def _normalise(
        self, input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, eps: float = 1e-5
    ) -> Tensor:
        found: Tensor = _InstanceNorm.apply(input.contiguous(), weight, bias, eps, self._constant)  # type: ignore[no-untyped-call]
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
