"""Bringing images to squares of one size: the shorter side is scaled, the centre is cut out."""

import numpy as np
import torch
from PIL import Image, ImageOps

from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.stored_arrays import Records, chunks

SMALLEST = 8


def fit(image: Image.Image, size: int) -> Image.Image:
    """The centre square of one image, scaled to `size` with an antialiasing Lanczos filter."""
    return ImageOps.fit(image, (size, size), method=Image.Resampling.LANCZOS)


def square(images: Records, size: int | None, name: str) -> Records:
    """Images, [N, C, H, W], as squares, [N, C, size, size], channel by channel and of the same type."""
    height, width = images.shape[2:]
    if size is None:
        side = suggested(height, width)
        check_square(
            height, width, f"the images of '{name}' are", f"pass --size {side}, in Python size={side}"
        )
    if size is None or (height, width) == (size, size):
        return images
    require_memory(
        len(images) * images.shape[1] * size**2 * images.element_size(),
        f"{len(images):,} images of '{name}' of {size}x{size} pixels",
    )
    result = torch.empty(*images.shape[:2], size, size, dtype=images.dtype)
    channels = (channel for part in chunks(images) for channel in part.flatten(0, 1))
    for before, after in zip(channels, result.flatten(0, 1), strict=True):
        after.copy_(torch.from_numpy(np.array(fit(Image.fromarray(before.numpy()), size))))
    return result.clamp_(0, 1) if result.is_floating_point() else result


def check_square(height: int, width: int, what: str, advice: str) -> None:
    """Refuse images that no network here takes."""
    if height != width or height < SMALLEST:
        raise DataError(
            f"{what} of {width}x{height} pixels and should be square and at least {SMALLEST}x{SMALLEST}; "
            f"{advice}"
        )


def suggested(*sides: int) -> int:
    """The size to suggest for images with these sides."""
    return max(SMALLEST, min(sides))
