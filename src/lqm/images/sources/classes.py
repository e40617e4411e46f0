"""Labels out of a program, numbers or names, as class numbers and the names of the classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lqm.images.sources.convert import Array, names_of
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import shown_value
from lqm.utils.sentences import first_line


def as_array(value: object, what: str) -> Array:
    """A tensor, an array, a column of a frame or a list as an array; short floats as float32."""
    try:
        if isinstance(value, Tensor):
            short = value.is_floating_point() and value.element_size() < 4
            found: Array = (value.detach().float() if short else value.detach()).cpu().numpy()
            return found
        return np.asarray(value)
    except (RuntimeError, TypeError, ValueError) as error:
        raise DataError(f"{what} can't be made an array ({first_line(error)}); give an array") from error


def numbered(
    labels: Sequence[object], place: str, class_names: Sequence[str] | None
) -> tuple[list[Tensor], tuple[str, ...]]:
    """Class numbers, [N] each, and the names of the classes, out of labels for training and for testing.

    With names of the classes, labels are their numbers, or the names themselves. Without, the labels for
    training, in order, are the classes.

    Args:
        labels: those for training, and those for testing if there are any: whole numbers, or texts.
        place: what to call the data in a sentence.
        class_names: the names of the classes, if they are given.

    Raises:
        DataError: when they are no labels, or a test label is of no class.
    """
    whats = (f"the labels of {place}", f"the labels of the test images of {place}")
    arrays = [_labels(values, what) for values, what in zip(labels, whats, strict=False)]
    present = np.unique(arrays[0])
    classes, names = present, tuple(str(label) for label in present.tolist())
    if class_names is not None:
        given = _names(class_names)
        if set(names) == set(given) and not _is_range(present):
            arrays = [array.astype(str) for array in arrays]
            classes = np.array(given)
        elif present.dtype.kind in "iu":
            names_of(given, torch.from_numpy(present.astype(np.int64)), place)
        else:
            raise DataError(
                f"the labels of {place} are {shown_value(', '.join(names))}, and class_names "
                f"{shown_value(', '.join(given))}; they should be the same names"
            )
        names = given
    return [_numbers(array, classes, what) for array, what in zip(arrays, whats, strict=False)], names


def _is_range(present: Array) -> bool:
    """Whether these labels are the numbers of as many classes."""
    return present.dtype.kind in "iu" and bool((present == np.arange(len(present))).all())


def _names(given: Sequence[str]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise ConfigError(
            f"class_names = {shown_value(given)} can't be used: it should be a list with a name a class"
        )
    names = tuple(given)
    if len(set(names)) < len(names):
        raise ConfigError("class_names has a name twice; give every class a name of its own")
    return names


def _labels(values: object, what: str) -> Array:
    # A list of numbers and texts would become one of texts.
    array = np.array(values, dtype=object) if isinstance(values, list | tuple) else as_array(values, what)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{what} have shape {list(array.shape)}; they should be [N], one an image, such as y.argmax(1) "
            "gives of a column a class"
        )
    if len(array) == 0:
        raise DataError(f"{what} are empty; there should be one for each of some images")
    if array.dtype.kind == "O":
        kinds: Any = str if isinstance(array[0], str) else int | np.integer
        odd = [label for label in array if not isinstance(label, kinds)]
        if odd:
            raise DataError(f"among {what} is {shown_value(odd[0])}; they should be whole numbers or texts")
        return array.astype(str if kinds is str else np.int64)
    if array.dtype.kind == "f":
        raise DataError(
            f"{what} are of type {array.dtype}; they should be whole numbers or texts, such as y.astype(int) "
            "gives"
        )
    if array.dtype.kind not in "iubUS":
        raise DataError(f"{what} are of type {array.dtype}; they should be whole numbers or texts")
    return np.char.decode(array.astype(bytes), errors="replace") if array.dtype.kind == "S" else array


def _numbers(labels: Array, classes: Array, what: str) -> Tensor:
    """The place of each label among the classes."""
    order = np.argsort(classes, kind="stable")
    ranks = np.searchsorted(classes, labels, sorter=order).clip(max=len(classes) - 1)
    found = order[ranks]
    unknown = classes[found] != labels
    if unknown.any():
        label = shown_value(labels[unknown][0].item())
        raise DataError(
            f"among {what} is {label}, which no training image has; add training images of it, or leave its "
            "test images out"
        )
    return torch.from_numpy(found.astype(np.int64))
