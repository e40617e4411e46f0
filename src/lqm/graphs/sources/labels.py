"""Class numbers of nodes, and their names."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lqm.utils.errors import DataError
from lqm.utils.sentences import counted

Array = np.ndarray[Any, Any]

_SHOWN = 10


def clean_labels(
    raw: Array, names: Sequence[str] | None, place: str
) -> tuple[Tensor, tuple[str, ...], list[str]]:
    """Labels from 0 without gaps, -1 for none; the names of the classes; and notes."""
    array = _whole_numbers(raw, place)
    present, numbered = np.unique(array, return_inverse=True)
    missing = int((array == -1).sum())
    if missing:
        present, numbered = present[1:], numbered - 1
    if len(present) < 2:
        raise DataError(f"{place} has labels of {len(present)} class; it should have two classes or more")
    notes = []
    if missing:
        unlabelled = counted(missing, "node has", "nodes have")
        notes.append(f"{unlabelled} no label: used in message passing, but neither condensed nor tested on")
    labels = torch.from_numpy(numbered.astype(np.int64).reshape(-1))
    if names is None:
        named = tuple(str(number) for number in present)
        if present[-1] >= len(present):
            notes.append("class numbers without a node were left out; the others keep their number as a name")
        return labels, named, notes
    if present[-1] >= len(names):
        raise DataError(f"{place} has the label {present[-1]} and {len(names)} class names; name all classes")
    if len(names) > len(present):
        dropped = sorted(set(range(len(names))) - set(present.tolist()))
        shown = ", ".join(f"'{names[number]}'" for number in dropped[:_SHOWN])
        more = ", ..." if len(dropped) > _SHOWN else ""
        notes.append(f"classes without a node were dropped: {shown}{more}")
    named, shared = _unique({int(number): str(names[number]) for number in present})
    if shared:
        notes.append(f"the name '{shared}' is that of several classes; such names have their number added")
    return labels, named, notes


def _unique(names: dict[int, str]) -> tuple[tuple[str, ...], str | None]:
    """Unique class names, since random numbers are keyed by them, and one that was there more than once."""
    shared = None
    while repeated := [name for name, count in Counter(names.values()).items() if count > 1]:
        shared = shared or repeated[0]
        names = {number: f"{name} ({number})" if name in repeated else name for number, name in names.items()}
    return tuple(names.values()), shared


def names_of(array: Array, place: str) -> tuple[str, ...]:
    """Names of classes out of an array of strings."""
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise DataError(f"class_names of {place} should be strings, a name a class; they are {array.dtype}")
    return tuple(name.decode(errors="replace") if isinstance(name, bytes) else str(name) for name in array)


def _whole_numbers(raw: Array, place: str) -> Array:
    array = raw[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else raw
    if array.ndim != 1:
        raise DataError(
            f"{place} has labels of shape {list(array.shape)}; there should be one a node, [N]: "
            "nodes of several classes can't be condensed"
        )
    if array.size == 0:
        raise DataError(f"{place} has no nodes; it should have a label for each of some nodes")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
        if not np.isfinite(array).all() or (np.mod(array, 1) != 0).any():
            raise DataError(f"{place} has labels that are not whole numbers; number the classes 0, 1, 2, ...")
    elif array.dtype.kind not in "iu":
        raise DataError(
            f"{place} has labels of type {array.dtype}; number the classes 0, 1, 2, ..., and "
            "give their names as class_names (numpy.unique with return_inverse makes both)"
        )
    low, high = int(array.min()), int(array.max())
    if low < -1 or high >= 2**63:
        raise DataError(
            f"{place} has the label {low if low < -1 else high}; number the classes 0, 1, 2, ... and use -1 "
            "for none"
        )
    return array.astype(np.int64)
