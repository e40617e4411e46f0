"""Lists of edges become the adjacency of an undirected graph."""

from typing import Any

import numpy as np

from lqm.graphs.graph import undirected
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.sentences import counted

Array = np.ndarray[Any, Any]

WEIGHTS = ("edge_weight", "edge_attr")
# What a node and an edge take at most while edges are sorted and merged.
_NODE_BYTES, _EDGE_BYTES = 32, 48


def clean_edges(edges: Any, nodes: int, place: str) -> tuple[Any, list[str]]:
    """The adjacency as `Graph` has it, and notes; `edges` are [2, E] or a pair of [E]."""
    sources, targets = _ends(edges, nodes, place)
    require_memory(_NODE_BYTES * nodes + _EDGE_BYTES * len(sources), f"the {len(sources):,} edges of {place}")
    loops = sources == targets
    dropped = int(np.count_nonzero(loops))
    if dropped:
        sources, targets = sources[~loops], targets[~loops]
    del loops
    if not len(sources):
        raise DataError(f"{place} has no edge between two nodes; a graph should have some")
    directed = _distinct(sources, targets, nodes)
    adjacency = undirected(sources, targets, nodes)
    notes = {
        ("self-loop was dropped", "self-loops were dropped"): dropped,
        ("duplicate edge was merged", "duplicate edges were merged"): len(sources) - directed,
        # `directed` counts both directions of an edge that is listed both ways.
        ("directed edge was made undirected", "directed edges were made undirected"): (
            int(adjacency.nnz) - directed
        ),
        ("isolated node was kept", "isolated nodes were kept"): (
            int(np.count_nonzero(np.diff(adjacency.indptr) == 0))
        ),
    }
    return adjacency, [counted(count, *words) for words, count in notes.items() if count]


def unweighted(weights: Array) -> bool:
    """Whether weights or features of edges say nothing that the edges do not say: all are 1."""
    return bool(np.all(weights == 1))


def edges_of_rows(matrix: Any) -> tuple[Array, Array]:
    """The ends of the edges in the rows of a csr matrix."""
    nodes = np.arange(len(matrix.indptr) - 1, dtype=np.int32)
    return np.repeat(nodes, np.diff(matrix.indptr)), matrix.indices


def _ends(edges: Any, nodes: int, place: str) -> tuple[Array, Array]:
    if isinstance(edges, np.ndarray) and (edges.ndim != 2 or edges.shape[0] != 2):
        raise DataError(
            f"the edges of {place} have shape {list(edges.shape)}; it should be [2, E], both ends of each"
        )
    sources, targets = edges
    if sources.ndim != 1 or sources.shape != targets.shape:
        raise DataError(
            f"the two ends of the edges of {place} have shapes {list(sources.shape)} and "
            f"{list(targets.shape)}; both should be [E]"
        )
    for ends in (sources, targets):
        if ends.dtype.kind not in "iu":
            raise DataError(
                f"the edges of {place} have type {ends.dtype}; they should be whole numbers, those of nodes"
            )
        low, high = int(ends.min(initial=0)), int(ends.max(initial=0))
        if low < 0 or high >= nodes:
            raise DataError(
                f"{place} has an edge at node {low if low < 0 else high}, but {nodes} nodes; "
                f"the ends of edges should be from 0 to {nodes - 1}"
            )
    return sources, targets


def _distinct(sources: Array, targets: Array, nodes: int) -> int:
    """The number of different pairs; a sort in place needs less memory than a set of them."""
    pairs = sources.astype(np.int64) * nodes
    pairs += targets.astype(np.int64, copy=False)
    pairs.sort()
    return 1 + int(np.count_nonzero(pairs[1:] != pairs[:-1]))
