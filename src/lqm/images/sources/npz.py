"""Images in a NumPy `.npz` file."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from torch import Tensor

from lqm.images.sources.convert import images_of, labels_of, names_of
from lqm.images.sources.decoding import Chunks, ImageStack, decode_set
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.labelled import Images
from lqm.images.sources.resize import square
from lqm.utils.limits import max_memory, require_memory, stays_in_file
from lqm.utils.npz import Arrays, strings_of
from lqm.utils.stored_arrays import in_memory

_KEYS = (
    ("train_x", "train_y", "test_x", "test_y"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("images", "labels"),
    ("x", "y"),
    ("data", "labels"),
)
# Bytes of images that are read at a time.
_AT_A_TIME = 1 << 23
# How many times images are there, besides those of the file, while they are put in order and split.
_COPIES = 2


def read_npz(path: Path, reading: Reading) -> Found:
    """The images and labels of a file, under one of the usual sets of keys, and `class_names` if given.

    Images of 8 bits that are too many for the memory go to the cache, some at a time, and stay there.
    """
    arrays = Arrays(path)
    keys = arrays.layout(_KEYS)
    if _are_large(arrays, keys[::2]):
        return _streamed(arrays, keys, reading)
    pairs = [_images(arrays, *pair) for pair in zip(keys[::2], keys[1::2], strict=True)]
    names = _names(arrays, pairs[0].labels)
    return Found(pairs[0], pairs[1] if len(pairs) == 2 else None, names)


def _are_large(arrays: Arrays, keys: Sequence[str]) -> bool:
    """Whether arrays of images are of bytes in the order of the images, and too large for the memory."""
    kinds = [arrays.bytes_of(key) for key in keys]
    sizes = [kind[1] for kind in kinds if kind is not None and len(kind[0]) in (3, 4) and kind[1]]
    return len(sizes) == len(keys) and stays_in_file(sum(sizes))


def _streamed(arrays: Arrays, keys: Sequence[str], reading: Reading) -> Found:
    labels = []
    for images, key in zip(keys[::2], keys[1::2], strict=True):
        kind = arrays.bytes_of(images)
        assert kind
        labels.append(labels_of(arrays[key], kind[0][0], f"'{key}' of {arrays.path}"))
    return decode_set(
        partial(_in_parts, arrays, keys[::2], reading),
        (labels[0], labels[1] if len(labels) == 2 else None),
        _names(arrays, labels[0]),
        reading,
        described="npz",
        root=arrays.path.parent,
        files=[arrays.path],
    )


def _in_parts(arrays: Arrays, keys: Sequence[str], reading: Reading, stack: ImageStack) -> Chunks:
    for key in keys:
        place, number = f"'{key}' of {arrays.path}", 0
        kind = arrays.bytes_of(key)
        assert kind
        most = min(_AT_A_TIME, max_memory() // 16) * kind[0][0] // kind[1]
        with closing(arrays.rows(key, max(1, most))) as parts:
            for part in parts:
                images = in_memory(square(images_of(part, place), reading.size, reading.name), place).numpy()
                places = (f"image {number + n} of {place}" for n in range(len(images)))
                yield zip(images, places, strict=True)
                number += len(images)


def _names(arrays: Arrays, labels: Tensor) -> tuple[str, ...]:
    given = "class_names" in arrays.keys
    names = strings_of(arrays["class_names"], f"class_names of {arrays.path}") if given else None
    return names_of(names, labels, str(arrays.path))


def _images(arrays: Arrays, images: str, labels: str) -> Images:
    array, place = arrays[images], f"'{images}' of {arrays.path}"
    pixel = 4 if array.dtype.kind == "f" else 1
    require_memory(array.nbytes + _COPIES * pixel * array.size, place)
    pixels = images_of(array, place)
    return Images(pixels, labels_of(arrays[labels], len(pixels), f"'{labels}' of {arrays.path}"))
