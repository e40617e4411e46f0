"""Images as PNG files: one, or all of a condensed set on one sheet."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from torch import Tensor

from lqm.condensed.images import CondensedImages
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically

_CELL_PIXELS = 48
_GAP_PIXELS = 4


def contact_sheet(condensed: CondensedImages, path: Path) -> None:
    """Write all images as one PNG, a row a class."""
    rows = [condensed.images[condensed.labels == label] for label in range(len(condensed.class_names))]
    zoom = -(-_CELL_PIXELS // condensed.images.shape[-1])
    cell = condensed.images.shape[-1] * zoom + _GAP_PIXELS
    sheet = Image.new(
        "RGB", (cell * max(map(len, rows)) + _GAP_PIXELS, cell * len(rows) + _GAP_PIXELS), "white"
    )
    for row, images in enumerate(rows):
        for column, image in enumerate(images):
            tile = as_colours(image).resize((cell - _GAP_PIXELS,) * 2, Image.Resampling.NEAREST)
            sheet.paste(tile, (_GAP_PIXELS + column * cell, _GAP_PIXELS + row * cell))
    write_atomically(path, _encoded(sheet))


def as_png(image: Tensor) -> bytes:
    """An 8-bit PNG file of an image: grey, colours, or colours and opacity.

    Raises:
        ArtifactError: when the image has a number of channels that PNG has not.
    """
    if len(image) not in (1, 3, 4):
        raise ArtifactError(
            f"an image of {len(image)} channels can't be a PNG file, which has 1, 3 or 4; export to npz"
        )
    return _encoded(as_image(image))


def as_image(image: Tensor) -> Image.Image:
    """An image with the channels that it has: grey, colours, or colours and opacity."""
    return Image.fromarray(_pixels(image))


def as_colours(image: Tensor) -> Image.Image:
    """An image of one channel as grey, of three as colour."""
    return Image.fromarray(_pixels(image[:3])).convert("RGB")


def _pixels(image: Tensor) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes [H, W, C], or [H, W] if there is one channel."""
    pixels: np.ndarray[Any, np.dtype[np.uint8]] = (image * 255).round().byte().permute(1, 2, 0).numpy()
    return pixels[..., 0] if pixels.shape[-1] == 1 else pixels


def _encoded(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
