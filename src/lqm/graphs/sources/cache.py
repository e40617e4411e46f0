"""Graphs that took long to make, kept as safetensors and found again by all that decides them."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch
from scipy.sparse import issparse
from torch import Tensor

from lqm.graphs.graph import Graph
from lqm.graphs.sources.cleaning import CleanGraph
from lqm.graphs.sources.rows import rows_of
from lqm.graphs.sources.splits import Split
from lqm.utils import cache
from lqm.utils.cache import Packed, kept
from lqm.utils.errors import DataError
from lqm.utils.log import warn
from lqm.utils.stored_arrays import StoredArray

# To be raised whenever the same words or files make another graph than before.
_EDITION = 2
_PIECES = ("data", "indices", "indptr")


def content_key(described: str, root: Path | None = None, files: Iterable[Path] = ()) -> str:
    """A hash of all that decides a graph: its description, and the names and bytes of its files."""
    return cache.content_key(f"{_EDITION}/{described}", root, files)


class _UnusableError(Exception):
    """A kept file that holds no graph."""


def cached(key: str, make: Callable[[], CleanGraph]) -> CleanGraph:
    """The result of `make`, from the cache if it is there; works without a cache that can't be used."""
    try:
        return kept("graphs", key, make, pack=_pack, unpack=_unpack, lazily=("features",))
    except _UnusableError as error:
        warn(f"the graph in the cache was not used: {error.__cause__}")
        return make()


def _pack(made: CleanGraph) -> Packed:
    tensors = {
        "indptr": torch.from_numpy(made.graph.adjacency.indptr),
        "indices": torch.from_numpy(made.graph.adjacency.indices),
        "labels": made.graph.labels,
    }
    features = made.graph.features
    if issparse(features):
        tensors |= {f"features.{piece}": torch.from_numpy(getattr(features, piece)) for piece in _PIECES}
    else:
        tensors["features"] = features
    if made.published:
        tensors |= {f"published.{part}": nodes for part, nodes in made.published._asdict().items()}
    words = {"class_names": made.class_names, "notes": made.notes, "width": made.graph.width}
    return Packed(tensors, {"words": words})


def _unpack(packed: Packed) -> CleanGraph:
    try:
        return _unpacked(packed.tensors, packed.stored.get("features"), packed.notes["words"])
    except (DataError, LookupError, TypeError, ValueError) as error:
        raise _UnusableError from error


def _unpacked(tensors: dict[str, Tensor], stored: StoredArray | None, words: dict[str, Any]) -> CleanGraph:
    nodes = len(tensors["labels"])
    values = torch.ones(len(tensors["indices"]))
    adjacency = _matrix(values, tensors["indices"], tensors["indptr"], (nodes, nodes))
    features: Any = tensors.get("features") if stored is None else stored
    if features is None:
        data, indices, indptr = (tensors[f"features.{piece}"] for piece in _PIECES)
        features = _matrix(data, indices, indptr, (nodes, words["width"]))
    elif features.dtype != torch.float32 or features.ndim != 2 or len(features) != nodes:
        raise TypeError("its features are no float32 [N, F]")
    if tensors["labels"].dtype != torch.int64 or tensors["labels"].ndim != 1:
        raise TypeError("its labels are no int64 [N]")
    published = None
    if "published.train" in tensors:
        published = Split(*(tensors[f"published.{part}"] for part in Split._fields))
    graph = Graph(features, adjacency, tensors["labels"])
    return CleanGraph(graph, tuple(words["class_names"]), published, tuple(words["notes"]))


def _matrix(values: Tensor, indices: Tensor, indptr: Tensor, shape: tuple[int, int]) -> Any:
    return rows_of(values.numpy(), indices.numpy(), indptr.numpy(), shape, place="a matrix of the graph")
