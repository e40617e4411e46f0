"""Values of features that can be computed with."""

import numpy as np
import torch
from scipy.sparse import issparse

from lqm.graphs.graph import Features
from lqm.utils.errors import DataError

# The sum of the squares of a hundred million such values is a float32 still.
LARGEST = 1e15
# Networks still train on values up to here without much loss.
USUAL = 1e6
# Rows of features that are checked at once, to bound the memory.
_ROWS = 65_536


def check_values(features: Features, name: str) -> None:
    """Refuse features that are NaN, infinite, or so large that computing with them overflows.

    Raises:
        DataError: with the node, the column and the value of the first of them.
    """
    values = torch.from_numpy(features.data) if issparse(features) else features
    for start, part in enumerate(values.split(_ROWS)):
        wrong = ~(part.abs() <= LARGEST)
        if wrong.any():
            place = wrong.nonzero()[0].tolist()
            place[0] += start * _ROWS
            value = float(part[wrong][0])
            node, column = _entry(features, *place) if issparse(features) else place
            raise DataError(
                f"the features of '{name}' have {_described(value)} at node {node}, column {column}; "
                f"{_remedy(value)}"
            )


def value_notes(features: Features) -> list[str]:
    """What to know about features that can be computed with, but hardly learned from."""
    values = features.data if issparse(features) else features
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    if issparse(features) and features.nnz < features.shape[0] * features.shape[1]:
        low, high = min(low, 0.0), max(high, 0.0)
    if low == high:
        return ["all features of all nodes are equal: only the edges tell nodes apart"]
    if max(-low, high) > USUAL:
        return [f"features go from {low:g} to {high:g}: networks learn better from values near 1"]
    return []


def _entry(features: Features, place: int) -> tuple[int, int]:
    """The row and column of a stored value."""
    return int(np.searchsorted(features.indptr, place, side="right")) - 1, int(features.indices[place])


def _described(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else f"NaN or infinity ({value})"


def _remedy(value: float) -> str:
    if np.isnan(value):
        return "replace what is no number"
    return (
        f"values should be from {-LARGEST:g} to {LARGEST:g}, since squares of larger ones overflow: replace "
        "what marks a missing value, or divide the column by a constant"
    )
