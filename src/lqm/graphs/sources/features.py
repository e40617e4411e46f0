"""Features of nodes: those that a graph has, or some made of its edges."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, eye_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, eigsh
from torch import Tensor

from lqm.graphs.graph import Features, dense
from lqm.graphs.propagation import normalised_adjacency
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory

_DEGREE_BINS = 32
_EIGENVECTORS = 64
_MOST_ONE_HOT = 50_000
# Below this many nodes a dense decomposition is both quicker and exact.
_DENSE = 512
_TOLERANCE = 1e-3
_CONSTANT = 1e-9
# What eigenvectors take a node while they are searched for.
_SPECTRAL_BYTES = 2_750
# The usual width of networks: whoever has features multiplies them by so many columns of weights.
_WIDTH = 256
# Rows whose sums are taken at once, to bound the memory.
_ROWS = 65_536


def clean_features(raw: Any, nodes: int, place: str) -> Features:
    """Features as float32, [N, F]: a tensor, or a csr_array with 32-bit indices."""
    shape = tuple(raw.shape)
    if len(shape) != 2 or shape[0] != nodes or not shape[1]:
        raise DataError(
            f"the features of {place} have shape {list(shape)}; with {nodes} labels it should be [{nodes}, F]"
        )
    if raw.dtype.kind not in "biuf":
        raise DataError(f"the features of {place} have type {raw.dtype}; they should be numbers")
    _require_memory(raw, shape, place)
    with np.errstate(over="ignore"):  # `GraphSource` refuses infinity
        values = np.ascontiguousarray(raw.data if issparse(raw) else raw, np.float32)
    if not issparse(raw):
        return torch.from_numpy(values)
    kind = np.int32 if max(raw.nnz, *shape) < 2**31 else np.int64
    places = (raw.indices.astype(kind, copy=False), raw.indptr.astype(kind, copy=False))
    features = csr_array((values, *places), shape=shape)
    features.sum_duplicates()
    return features


def _require_memory(raw: Any, shape: tuple[int, int], place: str) -> None:
    """Ask for the memory of float32 features beside those of the file, and of what they are multiplied by."""
    layer = f"a layer of {_WIDTH} units for the {shape[1]:,} features of {place}"
    require_memory(4 * _WIDTH * shape[1], layer)
    values = raw.data if issparse(raw) else raw
    require_memory(values.nbytes + 4 * values.size, f"the features of {place}, of shape {list(shape)},")


def normalised(features: Features) -> Features:
    """Each node's features divided by the sum of their absolute values, [N, F]; rows of zeros stay so."""
    if issparse(features):
        sums = abs(features).sum(axis=1, dtype=np.float64)
        with np.errstate(invalid="ignore"):  # `GraphSource` refuses infinity
            values = features.data / np.repeat(np.where(sums > 0, sums, 1), np.diff(features.indptr))
        pieces = values.astype(np.float32), features.indices, features.indptr
        return csr_array(pieces, shape=features.shape)
    totals = torch.cat([part.double().abs().sum(dim=1) for part in features.split(_ROWS)])
    return dense(features) / totals.where(totals > 0, 1).float()[:, None]


def degree_features(adjacency: Any) -> Any:
    """One-hot of the bin of each node's degree, a csr_array of float32, [N, 32] whatever the graph.

    Bin 0 is for isolated nodes, bin b for degrees from 2^(b-1) to 2^b - 1, and the last for 2^30 and above.
    """
    degrees = np.diff(adjacency.indptr)
    # frexp gives the exponent without the rounding of a logarithm.
    bins = np.minimum(np.frexp(degrees.astype(np.float64))[1], _DEGREE_BINS - 1).astype(np.int32)
    nodes = len(degrees)
    rows = np.arange(nodes + 1, dtype=np.int32)
    return csr_array((np.ones(nodes, np.float32), bins, rows), shape=(nodes, _DEGREE_BINS))


def _spectral(adjacency: Any, place: str) -> Tensor:
    """The leading eigenvectors of A_hat, 64 at most, each of variance 1 and with its largest value above 0.

    They are those of the largest connected component, and 0 elsewhere: each component has an eigenvector of
    eigenvalue 1, so a few isolated nodes would leave no room for others.
    """
    require_memory(_SPECTRAL_BYTES * adjacency.shape[0], f"spectral features of {place}")
    _, parts = connected_components(adjacency, directed=False)
    inside = np.flatnonzero(parts == np.bincount(parts).argmax())
    operator = normalised_adjacency(csr_array(adjacency[inside][:, inside])).astype(np.float64)
    if len(inside) <= _DENSE:
        values, vectors = np.linalg.eigh(operator.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(len(inside))
        try:
            values, vectors = eigsh(operator, k=_EIGENVECTORS, which="LA", v0=start, tol=_TOLERANCE)
        except ArpackError as error:
            raise DataError(f"no eigenvectors of {place} were found; give --features degree") from error
    features = np.zeros((adjacency.shape[0], min(len(inside), _EIGENVECTORS)))
    features[inside] = vectors[:, np.argsort(-values, kind="stable")[:_EIGENVECTORS]]
    largest = np.take_along_axis(features, np.abs(features).argmax(axis=0)[None], axis=0)[0]
    spread = features.std(axis=0)
    # The first vector of a regular graph is constant.
    features *= np.sign(largest) / np.where(spread > _CONSTANT, spread, np.abs(largest))
    return torch.from_numpy(features.astype(np.float32))


def _one_hot(adjacency: Any, place: str) -> Any:
    nodes = adjacency.shape[0]
    if nodes > _MOST_ONE_HOT:
        raise DataError(
            f"{place} has {nodes:,} nodes, and one-hot features are for {_MOST_ONE_HOT:,} at most; "
            "give features degree or spectral (--features)"
        )
    return csr_array(eye_array(nodes, dtype=np.float32, format="csr"))


FEATURES: dict[str, Callable[[Any, str], Features]] = {
    "degree": lambda adjacency, place: degree_features(adjacency),
    "spectral": _spectral,
    "one-hot": _one_hot,
}
