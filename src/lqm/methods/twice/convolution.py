"""Convolutions that are differentiated twice."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function

Mask = tuple[bool, bool, bool]


class Geometry(NamedTuple):
    """Of a convolution, as torch names it."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]
    groups: int

    def convolve(self, images: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        """The convolution itself."""
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


class Convolution(Function):
    """A convolution whose second derivative by its weight is found only where that is asked for."""

    @staticmethod
    def forward(
        context: Any,
        images: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        geometry: Geometry,
        first: bool,
        constant: bool,
    ) -> Tensor:
        """The convolution itself; `first` is one of the images, `constant` one whose weight is."""
        context.save_for_backward(images, weight)
        context.geometry, context.first, context.constant = geometry, first, constant
        return geometry.convolve(images, weight, bias)

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients that are asked for."""
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
        context: Any, above: Tensor, images: Tensor, weight: Tensor, geometry: Geometry, mask: Mask
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
