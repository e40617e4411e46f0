"""Instance norms that are differentiated twice: by a dozen passes over the maps, where torch takes forty."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function


class InstanceNorm(Function):
    """y = weight x^ + bias, x^ = (x - mean) r, r = 1 / sqrt(variance + eps), of each map of each image."""

    @staticmethod
    def forward(
        context: Any, maps: Tensor, weight: Tensor, bias: Tensor, eps: float, constant: bool
    ) -> Tensor:
        """The norm itself, by torch; `constant` is one whose weight and bias are."""
        images, channels, *sides = maps.shape
        count = sides[0] * sides[1]
        found, mean, r = torch.native_group_norm(maps, weight, bias, images, channels, count, channels, eps)
        context.save_for_backward(maps, weight, mean, r)
        context.eps, context.constant = eps, constant
        return found

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        """The gradients that are asked for, by torch's kernel."""
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
        mask: tuple[bool, bool, bool],
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
        by weight:  sum over the images of n r K, n the pixels of a map
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
        along_u, along_dy = -slope * B, a - slope * A
        by_above = torch.addcmul(b - slope * mean_u, u, slope).addcmul_(x, along_dy)
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
