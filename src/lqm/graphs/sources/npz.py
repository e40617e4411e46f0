"""Graphs in NumPy `.npz` files: of plain arrays, and of CSR pieces as in the common benchmarks."""

import lzma
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from lqm.graphs.sources.cleaning import RawGraph
from lqm.graphs.sources.edges import WEIGHTS, edges_of_rows, unweighted
from lqm.graphs.sources.features import rows_of
from lqm.graphs.sources.labels import names_of
from lqm.graphs.sources.splits import MASKS, split_of_masks
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

Array = np.ndarray[Any, Any]

_LEFT_OUT = "weights of edges were left out: all count alike"
_PIECES = ("data", "indices", "indptr", "shape")
_ADJACENCY = ("adj_", "adj_matrix.", "adj_matrix_")
_ATTRIBUTES = ("attr_", "attr_matrix.", "attr_matrix_")
# Encryption and an unknown compression are RuntimeErrors; the others come of headers that are damaged.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    tokenize.TokenError,
    ArithmeticError,
    EOFError,
    MemoryError,
    OSError,
    RuntimeError,
)


class Arrays:
    """The arrays of a file, each read when it is asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys = keys_of(path)

    def __getitem__(self, key: str) -> Array:
        """The array under a key; DataError when it is missing, is damaged or holds objects."""
        if key not in self.keys:
            raise DataError(f"{self.path} holds {', '.join(sorted(self.keys))}; '{key}' is missing")
        try:
            with np.load(self.path, allow_pickle=False) as arrays:
                array: Array = arrays[key]
        except _UNREADABLE as error:
            raise DataError(
                f"'{key}' of {self.path} can't be read ({reason(error)}); fetch or write the file again"
            ) from error
        except ValueError as error:
            raise DataError(
                f"'{key}' of {self.path} holds objects or is damaged ({reason(error)}); save plain arrays"
            ) from error
        # NumPy gives bytes for what is in the archive and is no array.
        if not isinstance(array, np.ndarray):
            raise DataError(f"'{key}' of {self.path} is no array; save plain arrays by numpy.savez")
        return array

    def rows(self, prefix: str) -> Any:
        """The sparse matrix whose arrays have names that begin so."""
        pieces = [self[f"{prefix}{piece}"] for piece in _PIECES]
        return rows_of(*pieces, place=f"'{prefix}data' of {self.path}")


def keys_of(path: Path) -> set[str]:
    """The names of the arrays in a file; DataError when it can't be opened as `.npz`."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name.removesuffix(".npy") for name in archive.namelist()}
    except (*_UNREADABLE, ValueError) as error:
        raise DataError(f"{path} can't be read as .npz ({reason(error)}); fetch or write it again") from error


def holds_graph(path: Path) -> bool:
    """Whether the edges of a graph are among the arrays of a `.npz`; DataError when it can't be opened."""
    keys = keys_of(path)
    return "edge_index" in keys or _sparse_prefix(keys, _ADJACENCY) is not None


def read_npz(path: Path, *, masks: bool = True) -> RawGraph:
    """The graph in a file, in one of the two forms; without its published split unless `masks` are read."""
    arrays = Arrays(path)
    prefix = _sparse_prefix(arrays.keys, _ADJACENCY)
    if "edge_index" in arrays.keys:
        return _read_plain(arrays, MASKS if masks else ())
    if prefix:
        return _read_benchmark(arrays, prefix)
    raise DataError(
        f"{path} holds {', '.join(sorted(arrays.keys)) or 'nothing'}; a graph should hold edge_index [2, E] "
        "and y [N], or adj_data, adj_indices, adj_indptr, adj_shape and labels"
    )


def _sparse_prefix(keys: set[str], prefixes: tuple[str, ...]) -> str | None:
    return next((prefix for prefix in prefixes if f"{prefix}indptr" in keys), None)


def _read_plain(arrays: Arrays, wanted: tuple[str, ...]) -> RawGraph:
    features: Any = None
    if "x_indptr" in arrays.keys:
        features = arrays.rows("x_")
    elif "x" in arrays.keys:
        features = arrays["x"]
    names = names_of(arrays["class_names"], str(arrays.path)) if "class_names" in arrays.keys else None
    labels = arrays["y"]
    masks = {mask: arrays[mask] for mask in wanted if mask in arrays.keys}
    published, notes = split_of_masks(masks, len(labels) if labels.ndim else 0, str(arrays.path))
    weighted = [key for key in WEIGHTS if key in arrays.keys and not unweighted(arrays[key])]
    notes += tuple(f"{key}: {_LEFT_OUT}" for key in weighted)
    return RawGraph(arrays["edge_index"], labels, features, names, published, notes)


def _read_benchmark(arrays: Arrays, prefix: str) -> RawGraph:
    labels = arrays["label" if "label" in arrays.keys and "labels" not in arrays.keys else "labels"]
    adjacency = arrays.rows(prefix)
    notes = () if unweighted(adjacency.data) else (_LEFT_OUT,)
    adjacency.eliminate_zeros()
    return RawGraph(
        edges_of_rows(adjacency),
        labels,
        _attributes(arrays),
        _names(arrays),
        notes=notes,
    )


def _attributes(arrays: Arrays) -> Any:
    if prefix := _sparse_prefix(arrays.keys, _ATTRIBUTES):
        return arrays.rows(prefix)
    return next((arrays[key] for key in ("attr_matrix", "attr") if key in arrays.keys), None)


def _names(arrays: Arrays) -> tuple[str, ...] | None:
    """The names of the classes, if they are plain strings; some files have objects there."""
    if "class_names" not in arrays.keys:
        return None
    try:
        return names_of(arrays["class_names"], str(arrays.path))
    except DataError:
        return None
