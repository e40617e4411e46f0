"""Images in a NumPy `.npz` file."""

from pathlib import Path

from lqm.images.sources.convert import images_of, labels_of, names_of
from lqm.images.sources.found import Found
from lqm.images.sources.labelled import Images
from lqm.utils.limits import require_memory
from lqm.utils.npz import Arrays, strings_of

_KEYS = (
    ("train_x", "train_y", "test_x", "test_y"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("images", "labels"),
    ("x", "y"),
    ("data", "labels"),
)
# How many times images are there, besides those of the file, while they are put in order and split.
_COPIES = 2


def read_npz(path: Path) -> Found:
    """The images and labels of a file, under one of the usual sets of keys, and `class_names` if given."""
    arrays = Arrays(path)
    keys = arrays.layout(_KEYS)
    pairs = [_images(arrays, *pair) for pair in zip(keys[::2], keys[1::2], strict=True)]
    given = "class_names" in arrays.keys
    names = strings_of(arrays["class_names"], f"class_names of {path}") if given else None
    return Found(pairs[0], pairs[1] if len(pairs) == 2 else None, names_of(names, pairs[0].labels, str(path)))


def _images(arrays: Arrays, images: str, labels: str) -> Images:
    array, place = arrays[images], f"'{images}' of {arrays.path}"
    pixel = 4 if array.dtype.kind == "f" else 1
    require_memory(array.nbytes + _COPIES * pixel * array.size, place)
    pixels = images_of(array, place)
    return Images(pixels, labels_of(arrays[labels], len(pixels), f"'{labels}' of {arrays.path}"))
