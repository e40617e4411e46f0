"""Several small images in the place of one (Zhao et al. 2023, IDM's partition and expansion).

A mosaic of factor f is cut into f x f cells; each cell, stretched to the whole size, is a record to train on.
Cells of a size that f does not divide differ by a pixel.
"""

from collections.abc import Iterable
from itertools import product

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def expand(mosaics: Tensor, factor: int) -> Tensor:
    """All cells at full size, those of one image together: [M, C, H, W] to [M * factor**2, C, H, W]."""
    if factor == 1:
        return mosaics
    size = mosaics.shape[-2:]
    cells = [_resized(mosaics[..., rows, columns], size) for rows, columns in _cells(size, factor)]
    return torch.stack(cells, dim=1).flatten(0, 1)


def compose(images: Tensor, factor: int) -> Tensor:
    """The mosaics whose cells are these images, made small; `expand` gives them back, less some detail."""
    if factor == 1:
        return images
    parts = images.unflatten(0, (-1, factor**2))
    mosaics: Tensor = parts[:, 0].clone()
    for part, (rows, columns) in zip(parts.unbind(dim=1), _cells(images.shape[-2:], factor), strict=True):
        mosaics[..., rows, columns] = _resized(part, mosaics[..., rows, columns].shape[-2:])
    return mosaics


def cells(mosaics: Tensor, factor: int) -> list[Tensor]:
    """The cells as they are, at their small size: for each place in a mosaic, [M, C, h, w]."""
    return [mosaics[..., rows, columns] for rows, columns in _cells(mosaics.shape[-2:], factor)]


def shrunk(images: Tensor, size: torch.Size) -> Tensor:
    """Images at the size of a cell, as `compose` makes them small; as they are if they have that size."""
    return images if images.shape[-2:] == size else _resized(images, size)


def _cells(size: torch.Size, factor: int) -> Iterable[tuple[slice, slice]]:
    """Rows and columns of each cell, row by row."""
    rows, columns = ([slice(n * i // factor, n * (i + 1) // factor) for i in range(factor)] for n in size)
    return product(rows, columns)


def _resized(images: Tensor, size: torch.Size) -> Tensor:
    return F.interpolate(images, list(size), mode="bilinear", align_corners=False)
