"""A graph with features and labels, in memory."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse, vstack
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.stored_arrays import LazyArray, Part, chunks, in_memory

# Dense (a tensor, or an array in a file) or sparse (SciPy's csr_array), float32, [N, F]; SciPy has no types.
Features = Any


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with features and labels, and the edges between them.

    Attributes:
        features: [N, F], dense or sparse.
        adjacency: csr_array of float32 ones, [N, N]: symmetric, each edge once in each direction, no
            self-loops, column numbers ascending in each row.
        labels: class numbers, int64, [N]; -1 for a node without one.
    """

    features: Features = field(repr=False)
    adjacency: Any = field(repr=False)
    labels: Tensor = field(repr=False)

    def __repr__(self) -> str:
        return f"Graph({self.nodes:,} nodes, {self.edges:,} edges, {self.width:,} features)"

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.labels)

    @property
    def edges(self) -> int:
        """Number of undirected edges."""
        return int(self.adjacency.nnz) // 2

    @property
    def width(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @cached_property
    def digest(self) -> str:
        """SHA-256 of features, edges and labels."""
        digest = hashlib.sha256()
        self.add_to(digest)
        return digest.hexdigest()

    def add_to(self, digest: "hashlib._Hash") -> None:
        """Add features, edges and labels to a hash."""
        add_features(self.features, digest)
        add_sparse(self.adjacency, digest)
        add_array(self.labels.numpy(), digest)

    def part(self, nodes: Tensor) -> "Graph":
        """The subgraph of some nodes, in their order, and of the edges between them."""
        chosen = nodes.numpy()
        adjacency = csr_array(self.adjacency[chosen][:, chosen])
        adjacency.sort_indices()
        return Graph(rows(self.features, nodes), adjacency, self.labels[nodes])


def add_array(array: np.ndarray[Any, Any], digest: "hashlib._Hash") -> None:
    """Add type, shape and values of an array to a hash."""
    digest.update(f"{array.dtype}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).data)


def add_features(features: Features, digest: "hashlib._Hash") -> None:
    """Add features to a hash; those in a file as if they were in memory."""
    if isinstance(features, LazyArray):
        digest.update(f"{np.dtype(np.float32)}{features.shape}".encode())
        for part in chunks(features):
            digest.update(part.numpy().data)
        return
    for array in _pieces(features):
        add_array(array, digest)


def add_sparse(matrix: Any, digest: "hashlib._Hash") -> None:
    """Add the places of a sparse matrix that are not 0 to a hash."""
    for array in _pieces(matrix)[:2]:
        add_array(array, digest)


def as_graph(nodes: CondensedNodes) -> Graph:
    """Condensed nodes as a graph."""
    count = len(nodes.labels)
    ends = nodes.edges.numpy()
    if ends.shape[:-1] != (2,) or ends.dtype.kind not in "iu" or ((ends < 0) | (ends >= count)).any():
        raise DataError(
            f"the edges of the condensed set have shape {list(ends.shape)}; they should be whole numbers of "
            f"shape [2, E] from 0 to {count - 1}, those of its nodes"
        )
    sources, targets = ends
    return Graph(nodes.features, undirected(sources, targets, count), nodes.labels)


def _pieces(matrix: Features) -> list[np.ndarray[Any, Any]]:
    """The arrays of a matrix, of the same types whatever it was made of."""
    if not issparse(matrix):
        return [matrix.contiguous().numpy()]
    return [matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data]


def rows(features: Features, nodes: Tensor) -> Features:
    """The features of some nodes, sparse if they were."""
    return features[nodes.numpy()] if issparse(features) else features[nodes]


def part_of(features: Features, nodes: Tensor) -> Features:
    """The same, but that those in a file stay there."""
    return Part(features, nodes) if isinstance(features, LazyArray) else rows(features, nodes)


def stacked(parts: Sequence[Features]) -> Features:
    """Features of several sets of nodes, concatenated; sparse only if all are."""
    if all(issparse(part) for part in parts):
        return csr_array(vstack(parts, format="csr"))
    return torch.cat([dense(part) for part in parts])


def dense(features: Features) -> Tensor:
    """Features as a tensor, [N, F]."""
    if not issparse(features):
        return in_memory(features, f"{features.shape[1]:,} features of {features.shape[0]:,} nodes")
    nodes, width = features.shape
    require_memory(4 * nodes * width, f"{width:,} features of {nodes:,} nodes as a dense matrix")
    return torch.from_numpy(features.toarray())


def undirected(sources: np.ndarray[Any, Any], targets: np.ndarray[Any, Any], nodes: int) -> Any:
    """The adjacency of a list of edges, as `Graph` has it: both directions, no duplicate, no self-loop.

    Sorting one number per edge in place takes a fraction of the memory of merging duplicates in a matrix.
    """
    # NumPy has no whole number that holds both int64 and uint64, and would compute with floats.
    sources, targets = (
        ends.astype(np.int64) if ends.dtype == np.uint64 else ends for ends in (sources, targets)
    )
    kept = sources != targets
    pairs = np.minimum(sources, targets)[kept].astype(np.int64)
    pairs *= nodes
    pairs += np.maximum(sources, targets)[kept]
    pairs.sort()
    first = np.ones(len(pairs), bool)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:])
    pairs = pairs[first]
    kind = np.int32 if max(nodes, 2 * len(pairs)) < 2**31 else np.int64
    starts = np.zeros(nodes + 1, kind)
    np.cumsum(np.bincount(pairs // nodes, minlength=nodes), out=starts[1:])
    ones = np.ones(len(pairs), np.float32)
    upper = csr_array((ones, (pairs % nodes).astype(kind), starts), shape=(nodes, nodes))
    del kept, first, pairs
    return csr_array(upper + upper.T.tocsr())
