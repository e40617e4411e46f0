"""The six differentiable siamese augmentations (Zhao & Bilen 2021, DSA) with explicit parameters.

The parameters are drawn numbers, not a random state, so the same transform can be replayed on a batch of any
length: one row is shared by every image (matching), a row an image gives each its own (training). All
operations act on normalised images, where 0 is the mean colour, and let gradients through.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


@dataclass(frozen=True, eq=False)
class AugmentationParameters:
    """One drawn operation: its name, and its parameters in [0, 1), [rows, parameters]."""

    operation: str
    parameters: Tensor


def draw(operations: Sequence[str], generator: torch.Generator, rows: int = 1) -> AugmentationParameters:
    """Draw one operation uniformly, and its parameters: one row to share, or one for each image."""
    operation = operations[int(torch.randint(len(operations), (1,), generator=generator))]
    return _parameters(operation, generator, rows)


def draw_several(
    operations: Sequence[str], generator: torch.Generator, rows: int = 1
) -> list[AugmentationParameters]:
    """Draw as IDC, M3D, DANCE and NCFM do: flip, color, one of crop, scale and rotate, and cutout."""
    moving = [name for name in operations if name in ("crop", "scale", "rotate")]
    drawn = moving[int(torch.randint(len(moving), (1,), generator=generator))] if moving else "none"
    order = ("flip", "color", drawn, "cutout")
    return [_parameters(name, generator, rows) for name in order if name in operations]


def augment(images: Tensor, *drawn: AugmentationParameters) -> Tensor:
    """Apply drawn operations, one after another, to a batch of square images, [B, C, H, H]."""
    for one in drawn:
        parameters = one.parameters.to(images).view(len(one.parameters), -1, 1, 1, 1)
        images = _APPLY[one.operation](images, *parameters.unbind(dim=1))
    return images


def cutmix(
    images: Tensor, labels: Tensor, classes: int, probability: float, draws: torch.Generator
) -> tuple[Tensor, Tensor]:
    """With a probability, one box of each image is that of another, and its label is shared by area.

    Yun et al. 2019. Labels are class numbers, [B], or shares of the classes, [B, classes], which those of a
    mixed batch always are.
    """
    if not probability or float(torch.rand((), generator=draws)) >= probability:
        return images, labels
    labels = labels if labels.is_floating_point() else F.one_hot(labels, classes).float()
    size = images.shape[-1]
    share, down, right = torch.rand(3, generator=draws).tolist()
    half = round(size * (1 - share) ** 0.5 / 2)
    centre = [int(size * place) for place in (down, right)]
    top, left = (max(0, place - half) for place in centre)
    bottom, end = (min(size, place + half) for place in centre)
    other = torch.randperm(len(images), generator=draws).to(images.device)
    mixed = images.clone()
    mixed[:, :, top:bottom, left:end] = images[other, :, top:bottom, left:end]
    kept = 1 - (bottom - top) * (end - left) / size**2
    return mixed, kept * labels + (1 - kept) * labels[other]


def _parameters(operation: str, generator: torch.Generator, rows: int) -> AugmentationParameters:
    return AugmentationParameters(operation, torch.rand(rows, NUMBERS[operation], generator=generator))


def _color(images: Tensor, brightness: Tensor, saturation: Tensor, contrast: Tensor) -> Tensor:
    images = images + (brightness - 0.5)
    grey = images.mean(dim=1, keepdim=True)
    images = (images - grey) * (2 * saturation) + grey
    level = images.mean(dim=(1, 2, 3), keepdim=True)
    return (images - level) * (contrast + 0.5) + level


def _crop(images: Tensor, down: Tensor, right: Tensor) -> Tensor:
    """Shift by up to an eighth of the size in each direction; zeros enter."""
    batch, channels, size, _ = images.shape
    most = int(size * 0.125 + 0.5)
    padded = F.pad(images, (most, most, most, most))
    places = torch.arange(size, device=images.device)
    rows = places.view(1, 1, -1, 1) + (down * (2 * most + 1)).long()
    columns = places.view(1, 1, 1, -1) + (right * (2 * most + 1)).long()
    shifted = padded.gather(2, rows.expand(batch, channels, size, padded.shape[3]))
    return shifted.gather(3, columns.expand(batch, channels, size, size))


def _cutout(images: Tensor, down: Tensor, right: Tensor) -> Tensor:
    """Blank a square of half the size around a random place; what sticks out is clipped."""
    size = images.shape[2]
    side = int(size * 0.5 + 0.5)
    choices = size + 1 - side % 2
    places = torch.arange(size, device=images.device)
    top, left = ((number * choices).long() - side // 2 for number in (down, right))
    rows, columns = places.view(1, 1, -1, 1), places.view(1, 1, 1, -1)
    hole = (rows >= top) & (rows < top + side) & (columns >= left) & (columns < left + side)
    return images.masked_fill(hole, 0.0)


def _flip(images: Tensor, coin: Tensor) -> Tensor:
    return torch.where(coin < 0.5, images.flip(3), images)


def _scale(images: Tensor, across: Tensor, along: Tensor) -> Tensor:
    """Stretch or shrink both directions by up to 1.2, independently."""
    low, high = 1 / 1.2, 1.2
    zero = torch.zeros_like(across)
    return _warp(images, (low + across * (high - low), zero, zero), (zero, low + along * (high - low), zero))


def _rotate(images: Tensor, turn: Tensor) -> Tensor:
    """Turn by up to 15 degrees either way."""
    angle = (turn - 0.5) * 2 * math.radians(15)
    cosine, sine, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    return _warp(images, (cosine, -sine, zero), (sine, cosine, zero))


def _warp(images: Tensor, *matrix: tuple[Tensor, Tensor, Tensor]) -> Tensor:
    """Resample under a 2x3 affine map, bilinear, zeros outside."""
    theta = torch.stack([torch.stack([entry.flatten() for entry in row], dim=-1) for row in matrix], dim=-2)
    grid = F.affine_grid(theta.expand(len(images), 2, 3), list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


_APPLY: dict[str, Callable[..., Tensor]] = {
    "color": _color,
    "crop": _crop,
    "cutout": _cutout,
    "flip": _flip,
    "scale": _scale,
    "rotate": _rotate,
}
NUMBERS = {"color": 3, "crop": 2, "cutout": 2, "flip": 1, "scale": 2, "rotate": 1}
OPERATIONS = tuple(_APPLY)
