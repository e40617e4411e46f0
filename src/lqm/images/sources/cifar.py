"""CIFAR-10 and CIFAR-100 as published, in the python and in the binary version.

An image is 3,072 bytes: 1,024 of red, then of green, then of blue, row by row.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lqm.images.sources.convert import Array, images_of, labels_of, names_of
from lqm.images.sources.found import Found
from lqm.images.sources.inside import Inside
from lqm.images.sources.labelled import Images
from lqm.utils.arrays import read_arrays
from lqm.utils.errors import DataError
from lqm.utils.files import lines_of, read_whole
from lqm.utils.limits import require_memory

_PIXELS = 3 * 32 * 32


@dataclass(frozen=True)
class Version:
    """Where one version of a set has its parts.

    Attributes:
        labels: the key of the labels; in the binary version, the number of label bytes (the last one counts).
        names: the file of the names of the classes, and their key if it has keys.
    """

    folder: str
    train: tuple[str, ...]
    test: str
    labels: str | int
    names: tuple[str, str | None]


_BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
CIFAR10_PYTHON = Version(
    "cifar-10-batches-py", _BATCHES, "test_batch", "labels", ("batches.meta", "label_names")
)
CIFAR10_BINARY = Version(
    "cifar-10-batches-bin",
    tuple(f"{name}.bin" for name in _BATCHES),
    "test_batch.bin",
    1,
    ("batches.meta.txt", None),
)
CIFAR100_PYTHON = Version("cifar-100-python", ("train",), "test", "fine_labels", ("meta", "fine_label_names"))
CIFAR100_BINARY = Version("cifar-100-binary", ("train.bin",), "test.bin", 2, ("fine_label_names.txt", None))


def read_cifar(data_dir: Path, version: Version) -> Found | None:
    """The set in its folder in `data_dir`, or in `data_dir` itself; None if it is in neither."""
    first = (version.train[0], version.names[0])
    for folder in (data_dir / version.folder, data_dir):
        with Inside(folder) as inside:
            if all(inside.has_file(folder / name) for name in first):
                train = _images(inside, version.train, version.labels)
                test = _images(inside, (version.test,), version.labels)
                return Found(train, test, names_of(_names(folder, *version.names), train.labels, str(folder)))
    return None


def _images(inside: Inside, files: tuple[str, ...], labels: str | int) -> Images:
    folder = inside.root
    for name in files:
        if not inside.has_file(folder / name):
            raise DataError(f"{folder} has no {name}; put it beside the other files of the set")
    size = sum((folder / name).stat().st_size for name in files)
    require_memory(2 * size, f"the images of {folder}")
    parts = [
        _read_binary(folder / name, labels)
        if isinstance(labels, int)
        else _read_python(folder / name, labels)
        for name in files
    ]
    pixels = np.concatenate([rows for rows, _ in parts]).reshape(-1, 3, 32, 32)
    numbers = np.concatenate([numbers for _, numbers in parts])
    return Images(images_of(pixels, str(folder)), labels_of(numbers, len(pixels), f"{folder / files[0]}"))


def _read_binary(path: Path, label_bytes: int) -> tuple[Array, Array]:
    content = np.frombuffer(read_whole(path), np.uint8)
    length = label_bytes + _PIXELS
    if len(content) == 0 or len(content) % length:
        raise DataError(f"{path} is {len(content)} bytes long, no multiple of {length}; fetch it again")
    rows = content.reshape(-1, length)
    return rows[:, label_bytes:], rows[:, label_bytes - 1]


def _read_python(path: Path, key: str) -> tuple[Array, Array]:
    data, labels = _values(path, "data", key)
    if not (isinstance(data, np.ndarray) and data.dtype == np.uint8 and data.shape[1:] == (_PIXELS,)):
        raise DataError(f"'data' of {path} is no uint8 array [N, {_PIXELS}]; fetch the file again")
    if not (
        isinstance(labels, list) and all(type(label) is int for label in labels) and len(labels) == len(data)
    ):
        raise DataError(f"'{key}' of {path} is no list of {len(data)} whole numbers; fetch the file again")
    return data, np.asarray(labels)


def _values(path: Path, *keys: str) -> list[Any]:
    """Values of the dictionary in a file of the python version; Python 2 wrote its keys as bytes."""
    content = read_arrays(path)
    pairs = content.items() if isinstance(content, dict) else ()
    values = {key.decode("latin-1") if isinstance(key, bytes) else key: value for key, value in pairs}
    for key in keys:
        if key not in values:
            raise DataError(f"{path} has no '{key}'; fetch it again")
    return [values[key] for key in keys]


def _names(folder: Path, file: str, key: str | None) -> tuple[str, ...]:
    path = folder / file
    if key is None:
        return tuple(line.strip() for line in lines_of(path) if line.strip())
    (names,) = _values(path, key)
    if not isinstance(names, list):
        raise DataError(f"'{key}' of {path} is no list of names; fetch the file again")
    return tuple(name.decode("latin-1") if isinstance(name, bytes) else str(name) for name in names)
