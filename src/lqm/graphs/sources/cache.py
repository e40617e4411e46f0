"""Graphs that took long to make, kept as safetensors and found again by all that decides them."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from scipy.sparse import csr_array, issparse
from torch import Tensor

from lqm.engine.progress import warn
from lqm.graphs.graph import Graph
from lqm.graphs.sources.found import Clean
from lqm.graphs.sources.splits import Split
from lqm.utils.cache import kept

# To be raised whenever the same words or files make another graph than before.
_EDITION = 2
_PIECES = ("data", "indices", "indptr")


def content_key(described: str, root: Path | None = None, files: Iterable[Path] = ()) -> str:
    """A hash of all that decides a graph: what is said of it, and the names and bytes of its files."""
    digest = hashlib.sha256(f"{_EDITION}/{described}".encode())
    for path in files:
        with path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"\0{path.relative_to(root or path.parent).as_posix()}\0{content}".encode())
    return digest.hexdigest()[:32]


def cached(key: str, make: Callable[[], Clean]) -> Clean:
    """What `make` gives, from the cache if it is there; a cache that can't be used is done without."""
    return kept("graphs", key, make, load=_load, save=_save)


def _save(folder: Path, key: str, made: Clean) -> None:
    """Write tensor by tensor, never a copy of them all; the name is known once all is written."""
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
    temporary = folder / f".{key}.{os.getpid()}.tmp"
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            save_file(tensors, temporary, {"words": json.dumps(words)})
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            os.replace(temporary, folder / f"{key}.{_short_hash(temporary)}.safetensors")
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, SafetensorError) as error:
        warn(f"the graph is not kept: {folder} can't be written ({error})")


def _load(path: Path) -> Clean | None:
    """The graph in a file, unless the file is not what its name says; its arrays stay in the file's pages."""
    try:
        if _short_hash(path) != path.name.split(".")[1]:
            return None
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dictionary)
            words = json.loads(file.metadata()["words"])
    except (OSError, SafetensorError):
        return None
    nodes = len(tensors["labels"])
    values = np.ones(len(tensors["indices"]), np.float32)
    adjacency = _matrix(values, tensors["indices"], tensors["indptr"], (nodes, nodes))
    features: Any = tensors.get("features")
    if features is None:
        data, indices, indptr = (tensors[f"features.{piece}"] for piece in _PIECES)
        features = _matrix(data.numpy(), indices, indptr, (nodes, words["width"]))
    published = None
    if "published.train" in tensors:
        published = Split(*(tensors[f"published.{part}"] for part in Split._fields))
    graph = Graph(features, adjacency, tensors["labels"])
    return Clean(graph, tuple(words["class_names"]), published, tuple(words["notes"]))


def _matrix(values: Any, indices: Tensor, indptr: Tensor, shape: tuple[int, int]) -> Any:
    return csr_array((values, indices.numpy(), indptr.numpy()), shape=shape)


def _short_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]
