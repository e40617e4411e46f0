"""Pictures as PNG files: one, or all of a condensed set on one sheet."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from torch import Tensor

from lqm.condensed.pictures import CondensedPictures
from lqm.errors import ArtifactError
from lqm.files import write_atomically

_CELL_PIXELS = 48
_GAP_PIXELS = 4


def contact_sheet(small: CondensedPictures, path: Path) -> None:
    """Write all pictures as one PNG, a row a class."""
    rows = [small.images[small.labels == label] for label in range(len(small.class_names))]
    zoom = -(-_CELL_PIXELS // small.images.shape[-1])
    cell = small.images.shape[-1] * zoom + _GAP_PIXELS
    sheet = Image.new(
        "RGB", (cell * max(map(len, rows)) + _GAP_PIXELS, cell * len(rows) + _GAP_PIXELS), "white"
    )
    for row, pictures in enumerate(rows):
        for column, picture in enumerate(pictures):
            tile = as_colours(picture).resize((cell - _GAP_PIXELS,) * 2, Image.Resampling.NEAREST)
            sheet.paste(tile, (_GAP_PIXELS + column * cell, _GAP_PIXELS + row * cell))
    write_atomically(path, _encoded(sheet))


def as_png(picture: Tensor) -> bytes:
    """An 8-bit PNG file of a picture: grey, colours, or colours and opacity.

    Raises:
        ArtifactError: when the picture has a number of channels that PNG has not.
    """
    if len(picture) not in (1, 3, 4):
        raise ArtifactError(
            f"a picture of {len(picture)} channels can't be a PNG file, which has 1, 3 or 4; export to npz"
        )
    return _encoded(as_image(picture))


def as_image(picture: Tensor) -> Image.Image:
    """A picture with the channels that it has: grey, colours, or colours and opacity."""
    return Image.fromarray(_pixels(picture))


def as_colours(picture: Tensor) -> Image.Image:
    """A picture of one channel as grey, of three as colour."""
    return Image.fromarray(_pixels(picture[:3])).convert("RGB")


def _pixels(picture: Tensor) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes [H, W, C], or [H, W] if there is one channel."""
    pixels: np.ndarray[Any, np.dtype[np.uint8]] = (picture * 255).round().byte().permute(1, 2, 0).numpy()
    return pixels[..., 0] if pixels.shape[-1] == 1 else pixels


def _encoded(image: Image.Image) -> bytes:
    buffer = BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()
