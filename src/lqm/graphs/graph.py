"""A graph with features and labels, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, issparse, vstack
from torch import Tensor

# Dense (a tensor) or sparse (SciPy's csr_array), float32, [N, F]; SciPy has no types for it.
Features = Any


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with features and labels, and the edges between them.

    Attributes:
        features: what each node is described by, [N, F], dense or sparse.
        adjacency: csr_array of float32 ones, [N, N]: symmetric, each edge once in each direction, no
            self-loops, column numbers ascending in each row.
        labels: class numbers, int64, [N]; -1 for a node without one.
    """

    features: Features = field(repr=False)
    adjacency: Any = field(repr=False)
    labels: Tensor = field(repr=False)

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.labels)

    @property
    def edges(self) -> int:
        """How many undirected edges there are."""
        return int(self.adjacency.nnz) // 2

    @property
    def width(self) -> int:
        """How many features a node has."""
        return int(self.features.shape[1])

    def part(self, nodes: Tensor) -> "Graph":
        """The subgraph of some nodes, in their order, and of the edges between them."""
        chosen = nodes.numpy()
        adjacency = csr_array(self.adjacency[chosen][:, chosen])
        adjacency.sort_indices()
        return Graph(rows(self.features, nodes), adjacency, self.labels[nodes])


def rows(features: Features, nodes: Tensor) -> Features:
    """The features of some nodes, sparse if they were."""
    return features[nodes.numpy()] if issparse(features) else features[nodes]


def stacked(parts: Sequence[Features]) -> Features:
    """Features of several sets of nodes, one below the other; sparse only if all are."""
    if all(issparse(part) for part in parts):
        return csr_array(vstack(parts, format="csr"))
    return torch.cat([dense(part) for part in parts])


def dense(features: Features) -> Tensor:
    """Features as a tensor, [N, F]."""
    found: Tensor = torch.from_numpy(features.toarray()) if issparse(features) else features
    return found


def undirected(sources: np.ndarray[Any, Any], targets: np.ndarray[Any, Any], nodes: int) -> Any:
    """The adjacency of a list of edges, as `Graph` wants it: both directions, no duplicate, no self-loop."""
    kept = sources != targets
    both = np.concatenate([sources[kept], targets[kept]]), np.concatenate([targets[kept], sources[kept]])
    adjacency = csr_array((np.ones(len(both[0]), np.float32), both), shape=(nodes, nodes))
    adjacency.sum_duplicates()
    adjacency.data[:] = 1.0
    return adjacency
