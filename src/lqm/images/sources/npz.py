"""Images in a NumPy `.npz` file."""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from lqm.images.sources.convert import Array, images_of, labels_of, names_of
from lqm.images.sources.found import Found
from lqm.images.sources.source import Images
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

_KEYS = (
    ("train_x", "train_y", "test_x", "test_y"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("images", "labels"),
    ("x", "y"),
    ("data", "labels"),
)


def read_npz(path: Path) -> Found:
    """The images and labels of a file, under one of the usual sets of keys, and `class_names` if given."""
    arrays = _arrays(path)
    keys = next((keys for keys in _KEYS if arrays.keys() >= set(keys)), None)
    if keys is None:
        accepted = "; or ".join(", ".join(keys) for keys in _KEYS)
        raise DataError(f"{path} holds {', '.join(sorted(arrays)) or 'nothing'}; it should hold {accepted}")
    pairs = [_images(arrays, *pair, path) for pair in zip(keys[::2], keys[1::2], strict=True)]
    names = names_of(arrays.get("class_names"), pairs[0].labels, str(path))
    return Found(pairs[0], pairs[1] if len(pairs) == 2 else None, names)


def _images(arrays: dict[str, Array], images: str, labels: str, path: Path) -> Images:
    pixels = images_of(arrays[images], f"'{images}' of {path}")
    return Images(pixels, labels_of(arrays[labels], len(pixels), f"'{labels}' of {path}"))


def _arrays(path: Path) -> dict[str, Array]:
    wanted = {key for keys in _KEYS for key in keys} | {"class_names"}
    try:
        with zipfile.ZipFile(path) as archive:
            found = [name.removesuffix(".npy") for name in archive.namelist()]
        with np.load(path, allow_pickle=False) as arrays:
            return {key: arrays[key] if key in wanted else np.empty(0) for key in found}
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise DataError(f"{path} can't be read as .npz ({reason(error)}); make or fetch it again") from error
    except ValueError as error:
        raise DataError(
            f"{path} holds objects or a damaged array ({reason(error)}); save plain arrays of numbers"
        ) from error
