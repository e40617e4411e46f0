"""One image file or its bytes, as pixels."""

import io
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from lqm.images.sources.resize import fit
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

# Formats that Pillow names but can't read by itself; for EPS it would start another program.
_NOT_READ = ("BUFR", "EPS", "GRIB", "HDF5", "MPEG", "WMF")


class Encoded(NamedTuple):
    """An image that is still to be read, and what to call it in a sentence."""

    content: Path | bytes
    place: str


@cache
def formats() -> tuple[str, ...]:
    """The formats that are read, by Pillow's names."""
    Image.preinit()  # the most common ones come first
    Image.init()
    return tuple(name for name in Image.ID if name not in _NOT_READ)


@cache
def suffixes() -> frozenset[str]:
    """How the names of image files end, in small letters."""
    return frozenset(end for end, name in Image.registered_extensions().items() if name in formats())


def decode(encoded: Encoded, size: int | None) -> NDArray[np.uint8]:
    """The pixels of an image, [1 or 3, H, W], upright, and as a square of `size` if one is asked for."""
    content, place = encoded
    try:
        with Image.open(
            io.BytesIO(content) if isinstance(content, bytes) else content, "r", formats()
        ) as image:
            mode = image.mode
            if size and mode in ("L", "RGB"):
                image.draft(None, (2 * size, 2 * size))
            image.load()
            upright = ImageOps.exif_transpose(image)
            if not mode.startswith(("I", "F")):
                return pixels_of(fit(plain(upright), size) if size else plain(upright))
    except UnidentifiedImageError as error:
        raise DataError(f"{place} is no image of a known format; remove or replace it") from error
    except Exception as error:  # a damaged file can make Pillow raise nearly anything
        raise DataError(
            f"{place} can't be read as an image ({reason(error)}); remove or replace it"
        ) from error
    raise DataError(f"{place} has 16 or 32 bits a pixel (mode {mode}); convert it to 8 bits")


def plain(image: Image.Image) -> Image.Image:
    """An image in mode L if it is greyscale, else in RGB; what is transparent shows white."""
    mode = "L" if image.mode in ("1", "L", "LA") else "RGB"
    if image.has_transparency_data:
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    return image.convert(mode)


def pixels_of(image: Image.Image) -> NDArray[np.uint8]:
    """The pixels of an image in mode L or RGB, [1 or 3, H, W]."""
    pixels = np.asarray(image)
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
