"""One image, from the bytes of a file to pixels."""

import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from lqm.images.sources.deep import refuse_deep
from lqm.images.sources.resize import fit
from lqm.utils.errors import DataError
from lqm.utils.limits import max_pixels
from lqm.utils.sentences import reason

# Those of Pillow's formats that sets of images come in, that it reads by itself and that say what they are.
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "DIB", "TIFF", "PPM", "JPEG2000", "AVIF")


# What Pillow logs of damaged files would be printed beside our own sentence.
logging.getLogger("PIL").addHandler(logging.NullHandler())


class Encoded(NamedTuple):
    """An image that is still to be decoded.

    Attributes:
        read: gives the bytes of the image file. Only a reader that listed a folder makes one that opens a
            file; what a set holds as data is never taken for a path.
        place: what to call it in a sentence.
        held: how many bytes of memory it takes already.
    """

    read: Callable[[], bytes]
    place: str
    held: int = 0


@cache
def formats() -> tuple[str, ...]:
    """The formats that are read, by Pillow's names."""
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.ID)


@cache
def suffixes() -> frozenset[str]:
    """How the names of image files end, in small letters."""
    known = (*formats(), "MPO")
    return frozenset(end for end, name in Image.registered_extensions().items() if name in known)


@contextmanager
def pillow_within_limits() -> Iterator[None]:
    """Let Pillow raise where a frame has more pixels than the limit allows, and print no warnings."""
    before = Image.MAX_IMAGE_PIXELS
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="PIL")
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        Image.MAX_IMAGE_PIXELS = max_pixels()
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = before


def decode(
    encoded: Encoded, size: int | None, check_size: Callable[[int, int, str], None] | None = None
) -> NDArray[np.uint8]:
    """The pixels of an image, [1 or 3, H, W], upright, and as a square of `size` if one is asked for.

    Args:
        encoded: the image.
        size: the side of the square.
        check_size: what refuses a height and width (and the place) that its set can't take, before decoding.
    """
    content, place = encoded.read(), encoded.place
    if not isinstance(content, bytes):
        raise DataError(f"{place} has a {type(content).__name__} and not the bytes of an image file")
    if content[8:12] == b"WEBP":
        _check_pixels(*_webp_canvas(content), place)
    try:
        with Image.open(io.BytesIO(content), "r", formats()) as image:
            _check_pixels(*image.size, place)
            refuse_deep(image, place, content)
            if check_size and not size:
                check_size(image.height, image.width, place)
            if size and image.mode in ("L", "RGB"):
                image.draft(None, (2 * size, 2 * size))
            image.load()
            upright = ImageOps.exif_transpose(image)
            return pixels_of(fit(plain(upright), size) if size else plain(upright))
    except DataError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise DataError(
            f"{place} claims more pixels than the limit of {max_pixels():,} for one image; scale it down, "
            "or raise the limit by --max-memory"
        ) from error
    except UnidentifiedImageError as error:
        raise DataError(f"{place} is no image of a known format; remove or replace it") from error
    except Exception as error:  # a damaged file can make Pillow raise nearly anything
        raise DataError(
            f"{place} can't be read as an image ({reason(error)}); remove or replace it"
        ) from error


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


def _check_pixels(width: int, height: int, place: str) -> None:
    if width * height > (limit := max_pixels()):
        raise DataError(
            f"{place} claims {width}x{height} pixels, above the limit of {limit:,} for one image; "
            "scale it down, or raise the limit by --max-memory"
        )


def _webp_canvas(content: bytes) -> tuple[int, int]:
    """Width and height of a WebP image, for which Pillow takes memory as soon as it opens it."""

    def number(start: int, length: int) -> int:
        return int.from_bytes(content[start : start + length], "little")

    match content[12:16]:
        case b"VP8X":
            return 1 + number(24, 3), 1 + number(27, 3)
        case b"VP8L":
            return 1 + (number(21, 4) & 0x3FFF), 1 + (number(21, 4) >> 14 & 0x3FFF)
        case _:
            return number(26, 2) & 0x3FFF, number(28, 2) & 0x3FFF
