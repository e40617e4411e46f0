"""A table in a NumPy `.npz` file."""

from pathlib import Path

from lqm.tabular.sources.found import FoundTable
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.npz import Arrays, keys_of, listed, shape_of, strings_of

# Features and labels; those of images, which have more axes, are called so too.
_KEYS = (
    ("X_train", "y_train", "X_test", "y_test"),
    ("X", "y", "X_test", "y_test"),
    ("x_train", "y_train", "x_test", "y_test"),
    ("train_x", "train_y", "test_x", "test_y"),
    ("X", "y"),
    ("x", "y"),
    ("features", "labels"),
    ("embeddings", "labels"),
    ("data", "labels"),
)
# How many times the features are there in float64 while they are checked, split and standardised.
_COPIES = 4


def holds_table(path: Path) -> bool:
    """Whether the first features of a file are a matrix, by its header; DataError when it can't be opened."""
    keys = _keys(keys_of(path))
    return keys is not None and len(shape_of(path, keys[0]) or ()) == 2


def read_npz(path: Path) -> FoundTable:
    """Features and labels under one of the usual sets of keys, `class_names` and `feature_names` if given."""
    arrays = Arrays(path)
    keys = _keys(arrays.keys)
    if keys is None:
        accepted = "; or ".join(", ".join(keys) for keys in _KEYS)
        raise DataError(f"{path} holds {listed(arrays.keys)}; it should hold {accepted}")
    features, labels, *test = (arrays[key] for key in keys)
    require_memory(_COPIES * 8 * features.size, f"'{keys[0]}' of {path}")
    names = {
        name: strings_of(arrays[name], f"{name} of {path}") if name in arrays.keys else None
        for name in ("class_names", "feature_names")
    }
    return FoundTable(features, labels, test=(test[0], test[1]) if test else None, **names)


def _keys(known: frozenset[str]) -> tuple[str, ...] | None:
    return next((keys for keys in _KEYS if known >= set(keys)), None)
