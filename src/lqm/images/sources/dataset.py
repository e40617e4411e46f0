"""Any map-style dataset of torch, as a source."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset

from lqm.engine.progress import Progress
from lqm.images.augment import OPERATIONS
from lqm.images.sources.classes import numbered
from lqm.images.sources.convert import Array, eight_bits_or_floats
from lqm.images.sources.deep import refuse_deep
from lqm.images.sources.found import Found, Reading, finish
from lqm.images.sources.image_file import pixels_of, plain
from lqm.images.sources.labelled import Images
from lqm.images.sources.resize import fit
from lqm.images.sources.source import ImageSource
from lqm.images.sources.stack import InMemory, Stack
from lqm.utils.errors import DataError
from lqm.utils.names import shown_value
from lqm.utils.sentences import reason

_UPDATE_EVERY = 256


def from_dataset(
    train: Dataset[object],
    test: Dataset[object] | None = None,
    *,
    name: str = "dataset",
    class_names: Sequence[str] | None = None,
    test_fraction: float | None = None,
    augmentation: Sequence[str] = OPERATIONS,
    show_progress: bool = True,
) -> ImageSource:
    """A source made of datasets whose items are pairs of an image and its label, each read once.

    An image is a tensor or array [C, H, W] or [H, W] of uint8 or of floats in [0, 1], or a Pillow image.

    Args:
        train: the dataset to condense.
        test: the one to evaluate by; without it a share of each class is held out.
        name: what to call it.
        class_names: the names of the classes; `train.classes` if there is one, else their numbers.
        test_fraction: the share to hold out, 0.2 if not given.
        augmentation: the operations that leave an image's label right.
        show_progress: whether to show how far reading is.

    Raises:
        DataError: when an item can't be used; it says which.
    """
    reading = Reading(name, test_fraction=test_fraction, show_progress=show_progress)
    return finish(read_dataset(train, test, reading, class_names), reading, augmentation=tuple(augmentation))


def read_dataset(
    train: object, test: object, reading: Reading, class_names: Sequence[str] | None = None
) -> Found:
    """The images of a dataset for training and of one for testing, if there is one; see `from_dataset`."""
    name = reading.name
    parts: dict[str, Any] = {"training": train} if test is None else {"training": train, "test": test}
    total = sum(_length(dataset, f"the {part} set of '{name}'") for part, dataset in parts.items())
    stack = Stack(
        total,
        "resize all to one size such as {0}x{0} in the dataset's transform, or give size={0}",
        InMemory,
    )
    labels: dict[str, list[object]] = {}
    with Progress(f"reading {name}", total, shown=reading.show_progress) as progress:
        for part, dataset in parts.items():
            labels[part] = []
            for index in range(_length(dataset, part)):
                place = f"item {index} of the {part} set of '{name}'"
                image, label = _item(dataset[index], place, reading.size)
                stack.add(image, place)
                labels[part].append(label)
                if len(stack) % _UPDATE_EVERY == 0 or len(stack) == total:
                    progress.update(len(stack), {})
    if reading.size is None:
        stack.check_square()
    given = class_names if class_names is not None else getattr(train, "classes", None)
    numbers, names = numbered([*labels.values()], f"'{name}'", None if given is None else tuple(given))
    images = stack.room.images.split([len(part) for part in numbers])
    labelled = [Images(*pair) for pair in zip(images, numbers, strict=True)]
    return Found(labelled[0], labelled[1] if test is not None else None, names)


def _length(dataset: Any, what: str) -> int:
    try:
        length = len(dataset)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"{what} has no length that can be used; it should be a map-style dataset, with len() and [i]"
        ) from error
    if length == 0:
        raise DataError(f"{what} is empty; it should have items")
    return length


def _item(item: Any, place: str, size: int | None) -> tuple[Array, object]:
    if not (isinstance(item, tuple | list) and len(item) == 2):
        raise DataError(f"{place} is a {type(item).__name__}; it should be a pair of an image and its label")
    image, label = item
    try:
        return _image(image, place, size), label if isinstance(label, str) else operator.index(label)
    except TypeError as error:
        raise DataError(
            f"{place} has the label {shown_value(label)}; it should be a whole number or a text"
        ) from error


def _image(image: Any, place: str, size: int | None) -> Array:
    if isinstance(image, Image.Image):
        refuse_deep(image, place)
        try:
            return pixels_of(fit(plain(image), size) if size else plain(image))
        except Exception as error:  # of a file that is read only now, Pillow can raise nearly anything
            raise DataError(f"{place} can't be read as an image ({reason(error)}); replace it") from error
    if not isinstance(image, torch.Tensor | np.ndarray):
        raise DataError(
            f"{place} has an image of type {type(image).__name__}; it should be a tensor or image"
        )
    array: Array = image.detach().cpu().numpy() if isinstance(image, torch.Tensor) else image
    array = array[None] if array.ndim == 2 else array
    if array.ndim != 3 or array.size == 0 or not 1 <= len(array) <= 4:
        raise DataError(
            f"{place} has an image of shape {list(array.shape)}; "
            "it should be [C, H, W] or [H, W], with C from 1 to 4"
        )
    return eight_bits_or_floats(array, place)
