"""Class numbers of nodes, and their names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lqm.utils.errors import DataError
from lqm.utils.limits import CLASS_BYTES, require_memory
from lqm.utils.sentences import counted

Array = np.ndarray[Any, Any]

# A name a class, as a list, or by the numbers of classes, where a class without one keeps its number.
ClassNames = Mapping[int, str] | Sequence[str] | None

_SHOWN = 10
# What a node takes while labels are sorted.
_BYTES = 48


def clean_labels(raw: Array, names: ClassNames, place: str) -> tuple[Tensor, tuple[str, ...], list[str]]:
    """Labels from 0 without gaps, -1 for none; the names of the classes; and notes.

    Raises:
        DataError: when they are no class numbers, or one of them has no name in a list of names.
    """
    array = _whole_numbers(raw, place)
    present, numbered = np.unique(array, return_inverse=True)
    missing = int((array == -1).sum())
    if missing:
        present, numbered = present[1:], numbered - 1
    require_memory(CLASS_BYTES * len(present), f"{len(present):,} classes of {place}")
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
    table = _table(names, int(present[-1]), place)
    if dropped := sorted(table.keys() - set(present.tolist())):
        shown = ", ".join(f"'{table[number]}'" for number in dropped[:_SHOWN])
        more = ", ..." if len(dropped) > _SHOWN else ""
        notes.append(f"classes without a node were dropped: {shown}{more}")
    named, shared = _unique({number: str(table.get(number, number)) for number in present.tolist()})
    if shared:
        notes.append(f"the name '{shared}' is that of several classes; such names have their number added")
    return labels, named, notes


def _table(names: Mapping[int, str] | Sequence[str], highest: int, place: str) -> dict[int, str]:
    if isinstance(names, Mapping):
        return dict(names)
    usable = isinstance(names, list | tuple) or (isinstance(names, np.ndarray) and names.ndim == 1)
    if not usable or not all(isinstance(name, str) for name in names):
        raise DataError(f"class_names of {place} should be a list of strings, a name a class")
    if highest >= len(names):
        raise DataError(f"{place} has the label {highest} and {len(names)} class names; name all classes")
    return {number: name.encode("utf-8", "replace").decode() for number, name in enumerate(names)}


def _unique(names: dict[int, str]) -> tuple[tuple[str, ...], str | None]:
    """Unique class names, since random numbers are keyed by them, and one that was there more than once."""
    shared = None
    while repeated := {name: count for name, count in Counter(names.values()).items() if count > 1}:
        shared = shared or next(iter(repeated))
        names = {number: f"{name} ({number})" if name in repeated else name for number, name in names.items()}
    return tuple(names.values()), shared


def _whole_numbers(raw: Array, place: str) -> Array:
    array = raw[:, 0] if raw.ndim == 2 and raw.shape[1] == 1 else raw
    if array.ndim != 1:
        raise DataError(
            f"{place} has labels of shape {list(array.shape)}; there should be one a node, [N]: "
            "nodes of several classes can't be condensed"
        )
    if array.size == 0:
        raise DataError(f"{place} has no nodes; it should have a label for each of some nodes")
    require_memory(_BYTES * len(array), f"the labels of the {len(array):,} nodes of {place}")
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
