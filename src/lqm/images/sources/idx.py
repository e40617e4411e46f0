"""The idx files in which MNIST was published.

Layout: two zero bytes, the type (8 for uint8), the number of axes; their lengths as big-endian 32-bit
numbers; the values.
"""

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from lqm.images.sources.convert import Array, images_of, labels_of, names_of
from lqm.images.sources.found import Found
from lqm.images.sources.inside import Inside
from lqm.images.sources.labelled import Images
from lqm.utils.errors import DataError
from lqm.utils.files import open_regular, size_of
from lqm.utils.limits import require_memory
from lqm.utils.sentences import reason

_MOST_AXES = 4
_AT_A_TIME = 1 << 20
_MOST_TIMES = 1032  # what deflate makes smaller at most


def read_idx_folder(folder: Path, prefix: str = "") -> Found | None:
    """The four files of a folder, gzipped or not; None if there are no training images.

    Args:
        folder: where they are.
        prefix: what their names begin with, such as `emnist-letters-`.
    """
    if not folder.is_dir():
        return None
    with Inside(folder) as inside:
        if not _find(inside, f"{prefix}train-images", 3):
            return None
        tested = "t10k" if _find(inside, f"{prefix}t10k-images", 3) else "test"
        train, test = (_images(inside, prefix + part) for part in ("train", tested if prefix else "t10k"))
    return Found(train, test, names_of(None, train.labels, str(folder)))


def read_idx(path: Path) -> Array:
    """The array in one idx file of uint8; no more is read, or unpacked, than its header says."""
    try:
        with open_regular(path) as file:
            if path.suffix != ".gz":
                return _read(file, path, size_of(file))
            with gzip.GzipFile(fileobj=file) as unpacked:
                return _read(cast(BinaryIO, unpacked), path, _MOST_TIMES * size_of(file))
    except (OSError, EOFError, zlib.error, struct.error) as error:
        raise DataError(f"{path} can't be read as an idx file ({reason(error)}); fetch it again") from error


def _read(file: BinaryIO, path: Path, most: int) -> Array:
    zeros, kind, axes = struct.unpack(">HBB", file.read(4))
    if (zeros, kind) != (0, 8) or not 1 <= axes <= _MOST_AXES:
        raise DataError(
            f"{path} is no idx file of uint8 with 1 to {_MOST_AXES} axes, or is cut off; fetch it again"
        )
    shape = struct.unpack(f">{axes}I", file.read(4 * axes))
    length = math.prod(shape)
    if not length:
        raise DataError(f"{path} claims to hold nothing; fetch it again")
    require_memory(length, f"what {path} claims to hold")
    if length > most:
        raise DataError(f"{path} claims {length:,} values in its header but is cut off; fetch it again")
    values = np.empty(length, np.uint8)
    filled = 0
    while filled < length and (piece := file.read(min(_AT_A_TIME, length - filled))):
        values[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
        filled += len(piece)
    if filled < length or file.read(1):
        raise DataError(f"{path} is longer than its header claims, or cut off; fetch it again")
    return values.reshape(shape)


def _images(inside: Inside, part: str) -> Images:
    images, labels = (_find(inside, f"{part}-{what}", axes) for what, axes in (("images", 3), ("labels", 1)))
    if not (images and labels):
        missing = f"{part}-labels-idx1-ubyte" if images else f"{part}-images-idx3-ubyte"
        raise DataError(f"{inside.root} has no {missing}; put it beside the other files of the set")
    pixels = images_of(read_idx(images), str(images))
    return Images(pixels, labels_of(read_idx(labels), len(pixels), str(labels)))


def _find(inside: Inside, stem: str, axes: int) -> Path | None:
    names = [f"{stem}{mark}idx{axes}-ubyte{end}" for mark in "-." for end in ("", ".gz")]
    return next((inside.root / name for name in names if inside.has_file(inside.root / name)), None)
