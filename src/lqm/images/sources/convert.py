"""Arrays of unknown layout become images, labels and names of classes."""

from itertools import islice

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lqm.utils.errors import DataError

Array = NDArray[np.generic]
_LARGEST = 2**63 - 1


def images_of(array: Array, place: str) -> Tensor:
    """Images [N, H, W], [N, H, W, C] or [N, C, H, W] as [N, C, H, W].

    C is 1 to 4; where two axes could be it, the last one is.
    """
    if array.ndim == 3:
        array = array[:, None]
    elif array.ndim == 4 and 1 <= array.shape[3] <= 4:
        array = array.transpose(0, 3, 1, 2)
    if array.ndim != 4 or not 1 <= array.shape[1] <= 4 or 0 in array.shape:
        raise DataError(
            f"{place} has shape {list(array.shape)}; it should be [N, H, W], [N, H, W, C] or [N, C, H, W] "
            "with N > 0 and C from 1 to 4"
        )
    return torch.from_numpy(np.ascontiguousarray(eight_bits_or_floats(array, place)))


def eight_bits_or_floats(array: Array, place: str) -> Array:
    """Pixels as uint8, or as float32 in [0, 1]; floats that are whole numbers up to 255 become uint8."""
    if array.dtype == np.uint8:
        return array
    if array.dtype == np.uint16:
        raise DataError(f"{place} holds 16-bit pixels; convert them to 8 bits (uint8)")
    if array.dtype.kind != "f":
        raise DataError(f"{place} has type {array.dtype}; it should be uint8, or floats in [0, 1]")
    if not (finite := np.isfinite(array)).all():
        first = np.argwhere(~finite)[0].tolist()
        raise DataError(f"{place} has {array[tuple(first)]} at {first}; replace what is not a number")
    low, high = float(array.min()), float(array.max())
    if low >= 0 and high <= 1:
        return array.astype(np.float32, copy=False)
    if low >= 0 and high <= 255:
        whole = array.astype(np.uint8)
        if (whole == array).all():
            return whole
    raise DataError(
        f"{place} has pixels from {low:g} to {high:g}; they should be floats in [0, 1], or whole numbers "
        "from 0 to 255, not normalised"
    )


def labels_of(array: Array, count: int, place: str) -> Tensor:
    """Class numbers of `count` images, [N]."""
    if count == 0:
        raise DataError(f"{place} is empty; it should have a label for each of some images")
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.shape != (count,):
        raise DataError(f"{place} has shape {list(array.shape)}; it should be [{count}], a label an image")
    if not _whole(array):
        raise DataError(
            f"{place} has labels that are not whole numbers; number the classes 0, 1, 2 and so on"
        )
    if array.min() < 0:
        raise DataError(f"{place} has the label {array.min()}; number the classes 0, 1, 2 and so on")
    if array.max() > _LARGEST:
        raise DataError(f"{place} has the label {array.max()}; they should be below 2**63")
    return torch.from_numpy(array.astype(np.int64))


def _whole(array: Array) -> bool:
    """Whether these are whole numbers, floats only as far as they count without gaps."""
    if array.dtype.kind == "f":
        return bool((np.isfinite(array) & (np.abs(array) <= 2.0**53)).all() and (array % 1 == 0).all())
    return array.dtype.kind in "iu"


def names_of(names: Array | tuple[str, ...] | None, labels: Tensor, place: str) -> tuple[str, ...]:
    """The names of the classes, every one of which has a training image; without names, the labels as text.

    With names the labels are their numbers. Without, they may be any: those of the training images, in order,
    are the classes.
    """
    present = labels.unique()
    if names is None:
        return tuple(str(label) for label in present.tolist())
    if int(present[-1]) != len(present) - 1:
        raise DataError(
            f"the labels of {place} leave out {_missing(present)}; "
            f"renumber the classes 0 to {len(present) - 1}"
        )
    if np.ndim(names) != 1:
        raise DataError(f"the class names of {place} are no list; give one name a class")
    if len(names) != len(present):
        raise DataError(
            f"{place} has {len(names)} class names and {len(present)} classes with training images; "
            "the numbers should be the same"
        )
    return tuple(name.decode(errors="replace") if isinstance(name, bytes) else str(name) for name in names)


def _missing(present: Tensor) -> str:
    """The first ten of the numbers that are left out below the greatest, in time by their count alone."""
    known = set(present.tolist())
    missing = list(islice((label for label in range(int(present[-1])) if label not in known), 11))
    return ", ".join(str(label) for label in missing[:10]) + (", ..." if len(missing) > 10 else "")
