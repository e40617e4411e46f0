"""The idx files in which MNIST was published.

Layout: two zero bytes, the type (8 for uint8), the number of axes; their lengths as big-endian 32-bit
numbers; the values.
"""

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np

from lqm.images.sources.convert import Array, images_of, labels_of, names_of
from lqm.images.sources.found import Found
from lqm.images.sources.source import Images
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason


def read_idx_folder(folder: Path) -> Found | None:
    """The four files of a folder, gzipped or not; None if there are no training images."""
    if not _find(folder, "train-images", 3):
        return None
    train, test = (_images(folder, part) for part in ("train", "t10k"))
    return Found(train, test, names_of(None, train.labels, str(folder)))


def read_idx(path: Path) -> Array:
    """The array in one idx file of uint8."""
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        zeros, kind, axes = struct.unpack_from(">HBB", content)
        shape = struct.unpack_from(f">{axes}I", content, 4)
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise DataError(f"{path} can't be read as an idx file ({reason(error)}); fetch it again") from error
    start = 4 + 4 * axes
    if (zeros, kind) != (0, 8) or len(content) - start != math.prod(shape):
        raise DataError(f"{path} is no idx file of uint8, or is cut off; fetch it again")
    return np.frombuffer(bytearray(content[start:]), np.uint8).reshape(shape)


def _images(folder: Path, part: str) -> Images:
    images, labels = (_find(folder, f"{part}-{what}", axes) for what, axes in (("images", 3), ("labels", 1)))
    if not (images and labels):
        missing = f"{part}-labels-idx1-ubyte" if images else f"{part}-images-idx3-ubyte"
        raise DataError(f"{folder} has no {missing}; put it beside the other files of the set")
    pixels = images_of(read_idx(images), str(images))
    return Images(pixels, labels_of(read_idx(labels), len(pixels), str(labels)))


def _find(folder: Path, stem: str, axes: int) -> Path | None:
    names = [f"{stem}{mark}idx{axes}-ubyte{end}" for mark in "-." for end in ("", ".gz")]
    return next((folder / name for name in names if (folder / name).is_file()), None)
