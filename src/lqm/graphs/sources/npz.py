"""Graphs in NumPy `.npz` files: of plain arrays, and of CSR pieces as in the common benchmarks."""

from pathlib import Path
from typing import Any

from lqm.graphs.sources.cleaning import RawGraph
from lqm.graphs.sources.edges import WEIGHTS, edges_of_rows, unweighted
from lqm.graphs.sources.rows import rows_of
from lqm.graphs.sources.splits import MASKS, split_of_masks
from lqm.utils.errors import DataError
from lqm.utils.npz import Arrays, keys_of, listed, strings_of

_LEFT_OUT = "weights of edges were left out: all count alike"
_PIECES = ("data", "indices", "indptr", "shape")
_ADJACENCY = ("adj_", "adj_matrix.", "adj_matrix_")
_ATTRIBUTES = ("attr_", "attr_matrix.", "attr_matrix_")


def sparse_rows(arrays: Arrays, prefix: str) -> Any:
    """The sparse matrix whose arrays have names that begin so."""
    pieces = [arrays[f"{prefix}{piece}"] for piece in _PIECES]
    return rows_of(*pieces, place=f"'{prefix}data' of {arrays.path}")


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
        f"{path} holds {listed(arrays.keys)}; a graph should hold edge_index [2, E] "
        "and y [N], or adj_data, adj_indices, adj_indptr, adj_shape and labels"
    )


def _sparse_prefix(keys: frozenset[str], prefixes: tuple[str, ...]) -> str | None:
    return next((prefix for prefix in prefixes if f"{prefix}indptr" in keys), None)


def _read_plain(arrays: Arrays, wanted: tuple[str, ...]) -> RawGraph:
    features: Any = None
    if "x_indptr" in arrays.keys:
        features = sparse_rows(arrays, "x_")
    elif "x" in arrays.keys:
        features = arrays["x"]
    names = _names(arrays) if "class_names" in arrays.keys else None
    labels = arrays["y"]
    masks = {mask: arrays[mask] for mask in wanted if mask in arrays.keys}
    published, notes = split_of_masks(masks, len(labels) if labels.ndim else 0, str(arrays.path))
    weighted = [key for key in WEIGHTS if key in arrays.keys and not unweighted(arrays[key])]
    notes += tuple(f"{key}: {_LEFT_OUT}" for key in weighted)
    return RawGraph(arrays["edge_index"], labels, features, names, published, notes)


def _read_benchmark(arrays: Arrays, prefix: str) -> RawGraph:
    labels = arrays["label" if "label" in arrays.keys and "labels" not in arrays.keys else "labels"]
    adjacency = sparse_rows(arrays, prefix)
    if adjacency.shape[0] != adjacency.shape[1]:
        raise DataError(
            f"the adjacency in {arrays.path} has shape {list(adjacency.shape)}; it should have as many "
            "columns as rows, those of the nodes"
        )
    notes = () if unweighted(adjacency.data) else (_LEFT_OUT,)
    adjacency.eliminate_zeros()
    return RawGraph(
        edges_of_rows(adjacency),
        labels,
        _attributes(arrays),
        _names_if_plain(arrays),
        notes=notes,
    )


def _attributes(arrays: Arrays) -> Any:
    if prefix := _sparse_prefix(arrays.keys, _ATTRIBUTES):
        return sparse_rows(arrays, prefix)
    return next((arrays[key] for key in ("attr_matrix", "attr") if key in arrays.keys), None)


def _names(arrays: Arrays) -> tuple[str, ...]:
    return strings_of(arrays["class_names"], f"class_names of {arrays.path}")


def _names_if_plain(arrays: Arrays) -> tuple[str, ...] | None:
    """The names of the classes, if they are plain strings; some files have objects there."""
    if "class_names" not in arrays.keys:
        return None
    try:
        return _names(arrays)
    except DataError:
        return None
