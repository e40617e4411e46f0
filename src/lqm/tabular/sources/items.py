"""Rows out of a torch dataset, whose items are vectors of features with their labels."""

from typing import Any

import numpy as np
from torch import Tensor
from torch.utils.data import Dataset

from lqm.utils.errors import DataError


def holds_vectors(dataset: object) -> bool:
    """Whether something is a map-style dataset of torch whose first item is a vector with its label."""
    if not (isinstance(dataset, Dataset) and hasattr(dataset, "__len__") and len(dataset)):
        return False
    item = dataset[0]
    return isinstance(item, tuple | list) and len(item) == 2 and _is_vector(item[0])


def vectors_of(dataset: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    """The features [N, F] and the labels [N] of all items.

    Raises:
        DataError: naming the first item that is no vector as long as the one before it, with its label.
    """
    rows: list[np.ndarray] = []
    labels = []
    for index in range(len(dataset)):
        item = dataset[index]
        if not (isinstance(item, tuple | list) and len(item) == 2 and _is_vector(item[0])):
            raise DataError(f"item {index} of {what} is no vector with its label, as its first item is")
        rows.append(np.asarray(item[0].detach().cpu() if isinstance(item[0], Tensor) else item[0]))
        if len(rows[-1]) != len(rows[0]):
            raise DataError(
                f"item {index} of {what} has {len(rows[-1])} features and its first item {len(rows[0])}; "
                "give vectors of one length"
            )
        labels.append(item[1].item() if isinstance(item[1], Tensor) else item[1])
    return np.stack(rows), np.asarray(labels)


def _is_vector(value: object) -> bool:
    return isinstance(value, Tensor | np.ndarray) and value.ndim == 1
