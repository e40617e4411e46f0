"""Lists of edges become the adjacency of an undirected graph."""

from typing import Any

import numpy as np

from lqm.graphs.graph import undirected
from lqm.graphs.sources.notes import counted
from lqm.utils.errors import DataError

Array = np.ndarray[Any, Any]


def clean_edges(edges: Any, nodes: int, place: str) -> tuple[Any, list[str]]:
    """The adjacency as `Graph` wants it, and notes.

    Args:
        edges: numbers of the nodes at both ends, [2, E] or a pair of [E].
        nodes: how many nodes there are.
        place: what to call the graph in an error.

    Raises:
        DataError: when they are not whole numbers of nodes, or no edge is between two nodes.
    """
    sources, targets = _ends(edges, nodes, place)
    loops = sources == targets
    dropped = int(np.count_nonzero(loops))
    if dropped:
        sources, targets = sources[~loops], targets[~loops]
    del loops
    if not len(sources):
        raise DataError(f"{place} has no edge between two nodes; a graph should have some")
    directed = _distinct(sources, targets, nodes)
    adjacency = undirected(sources, targets, nodes)
    isolated = int(np.count_nonzero(np.diff(adjacency.indptr) == 0))
    # Of an edge that is listed both ways, both were counted.
    one_way = int(adjacency.nnz) - directed
    notes = {
        ("self-loop was dropped", "self-loops were dropped"): dropped,
        ("duplicate edge was merged", "duplicate edges were merged"): len(sources) - directed,
        ("directed edge was made undirected", "directed edges were made undirected"): one_way,
        ("isolated node hears only itself", "isolated nodes hear only themselves"): isolated,
    }
    return adjacency, [counted(count, *words) for words, count in notes.items() if count]


def edges_of_rows(indptr: Array, indices: Array) -> tuple[Array, Array]:
    """The ends of the edges in the rows of a sparse matrix."""
    return np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr)), indices


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
        if not len(ends):
            continue
        low, high = int(ends.min()), int(ends.max())
        if low < 0 or high >= nodes:
            raise DataError(
                f"{place} has an edge at node {low if low < 0 else high}, but {nodes} nodes; "
                f"the ends of edges should be from 0 to {nodes - 1}"
            )
    # Of 64 bits only int64 goes on: NumPy computes with floats where it meets uint64.
    first, second = (
        ends.astype(np.int64) if ends.dtype == np.uint64 else ends for ends in (sources, targets)
    )
    return first, second


def _distinct(sources: Array, targets: Array, nodes: int) -> int:
    """How many different pairs there are; a sort in place needs less memory than a set of them."""
    pairs = sources.astype(np.int64) * nodes + targets
    pairs.sort()
    return 1 + int(np.count_nonzero(pairs[1:] != pairs[:-1]))
