"""Features of nodes: those that a graph has, or some made of its edges."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from torch import Tensor

from lqm.graphs.graph import Features
from lqm.graphs.propagation import normalised_adjacency
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

_DEGREE_BINS = 32
_EIGENVECTORS = 64
_MOST_ONE_HOT = 50_000
# Below this many nodes a dense decomposition is both quicker and exact.
_DENSE = 512
_TOLERANCE = 1e-3
_CONSTANT = 1e-9
_ROWS = 65_536


def clean_features(found: Any, nodes: int, place: str) -> Features:
    """Features as float32, [N, F]: a tensor, or a csr_array with 32-bit indices.

    Raises:
        DataError: when there is not a row of finite numbers for each node.
    """
    shape = tuple(found.shape)
    if len(shape) != 2 or shape[0] != nodes or not shape[1]:
        raise DataError(
            f"the features of {place} have shape {list(shape)}; with {nodes} labels it should be [{nodes}, F]"
        )
    if found.dtype.kind not in "biuf":
        raise DataError(f"the features of {place} have type {found.dtype}; they should be numbers")
    with np.errstate(over="ignore"):  # what overflows is found below
        values = np.ascontiguousarray(found.data if issparse(found) else found, np.float32)
    if issparse(found):
        kind = np.int32 if max(found.nnz, *shape) < 2**31 else np.int64
        places = (found.indices.astype(kind, copy=False), found.indptr.astype(kind, copy=False))
        features = csr_array((values, *places), shape=shape)
        features.sum_duplicates()
    else:
        features = torch.from_numpy(values)
    pieces = torch.from_numpy(values).split(_ROWS)
    if not all(piece.isfinite().all() for piece in pieces):
        raise DataError(f"the features of {place} have NaN or infinity; replace them by numbers")
    return features


def rows_of(data: Any, indices: Any, indptr: Any, shape: Any, *, place: str) -> Any:
    """The sparse matrix of the pieces that it was written in.

    Raises:
        DataError: when they don't go together.
    """
    try:
        size = tuple(int(length) for length in shape)
        matrix = csr_array((data, indices, indptr), shape=size)
        matrix.check_format(full_check=True)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{place} is no sparse matrix ({reason(error)}); fetch or write it again") from error
    return matrix


def made_features(choice: str, adjacency: Any, place: str) -> tuple[Features, str]:
    """Features made of the edges, and a note that says so.

    Raises:
        DataError: when the graph is too large for them.
    """
    features = FEATURES[choice](adjacency, place)
    return features, f"the graph has no features; {features.shape[1]:,} were made: {choice}"


def degree_features(adjacency: Any) -> Any:
    """One-hot of the bin of each node's degree, a csr_array of float32, [N, 32] whatever the graph.

    Bin 0 is for isolated nodes, bin b for degrees from 2^(b-1) to 2^b - 1: 1, 2 to 3, 4 to 7, 8 to 15, ...;
    the last, 31, is for 2^30 and above.

    Args:
        adjacency: csr_array of a graph without self-loops, [N, N]; each entry of a row counts as one.
    """
    degrees = np.diff(adjacency.indptr)
    # frexp gives the exponent without the rounding of a logarithm.
    bins = np.minimum(np.frexp(degrees.astype(np.float64))[1], _DEGREE_BINS - 1).astype(np.int32)
    nodes = len(degrees)
    rows = np.arange(nodes + 1, dtype=np.int32)
    return csr_array((np.ones(nodes, np.float32), bins, rows), shape=(nodes, _DEGREE_BINS))


def _degree(adjacency: Any, place: str) -> Any:
    """See `degree_features`."""
    return degree_features(adjacency)


def _spectral(adjacency: Any, place: str) -> Tensor:
    """The leading eigenvectors of A_hat, 64 at most, each of variance 1 and with its largest value above 0.

    They are those of the largest connected part, and 0 elsewhere: each small part has an eigenvector of
    eigenvalue 1 of its own, and a few isolated nodes would leave no room for others.
    """
    _, parts = connected_components(adjacency, directed=False)
    inside = np.flatnonzero(parts == np.bincount(parts).argmax())
    operator = normalised_adjacency(csr_array(adjacency[inside][:, inside])).astype(np.float64)
    if len(inside) <= _DENSE:
        values, vectors = np.linalg.eigh(operator.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(len(inside))
        values, vectors = eigsh(operator, k=_EIGENVECTORS, which="LA", v0=start, tol=_TOLERANCE)
    features = np.zeros((adjacency.shape[0], min(len(inside), _EIGENVECTORS)))
    features[inside] = vectors[:, np.argsort(-values, kind="stable")[:_EIGENVECTORS]]
    largest = np.take_along_axis(features, np.abs(features).argmax(axis=0)[None], axis=0)[0]
    spread = features.std(axis=0)
    # The first vector of a regular graph is constant.
    features *= np.sign(largest) / np.where(spread > _CONSTANT, spread, np.abs(largest))
    return torch.from_numpy(features.astype(np.float32))


def _one_hot(adjacency: Any, place: str) -> Any:
    """A feature of its own for each node, sparse."""
    nodes = adjacency.shape[0]
    if nodes > _MOST_ONE_HOT:
        raise DataError(
            f"{place} has {nodes:,} nodes, and one-hot features are for {_MOST_ONE_HOT:,} at most; "
            "give features degree or spectral (--features)"
        )
    return csr_array(eye_array(nodes, dtype=np.float32, format="csr"))


FEATURES: dict[str, Callable[[Any, str], Features]] = {
    "degree": _degree,
    "spectral": _spectral,
    "one-hot": _one_hot,
}
