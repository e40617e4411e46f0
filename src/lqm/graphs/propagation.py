"""Message passing on constant features: A_hat = D^-1/2 (A + I) D^-1/2."""

from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, eye_array, issparse

from lqm.graphs.graph import Features, dense
from lqm.graphs.matrices import as_torch
from lqm.graphs.stored_propagation import propagate_in_file
from lqm.utils.errors import ArtifactError
from lqm.utils.limits import stays_in_file
from lqm.utils.log import warn
from lqm.utils.stored_arrays import LazyArray, Records

# Above this share of values that are not 0, multiplying by a sparse matrix is slower than by a dense one.
_SPARSE = 0.2


def normalised_adjacency(adjacency: Any) -> Any:
    """A_hat = D^-1/2 (A + I) D^-1/2 as a csr_array (Kipf & Welling 2017)."""
    scale = diags_array(_scale(adjacency))
    return csr_array(scale @ (adjacency + eye_array(adjacency.shape[0], dtype=np.float32)) @ scale)


def propagate(features: Features, adjacency: Any, hops: int = 1) -> Features:
    """A_hat^hops X, without ever forming A_hat; sparse features stay so while most of them are 0.

    Dense features that are large beside the limit of memory stay in a file of the cache.

    Shapes: features [N, F]; result [N, F].
    """
    scale = _scale(adjacency)
    for _ in range(hops):
        if (stored := _in_file(features, adjacency, scale)) is not None:
            features = stored
        elif issparse(features):
            scaled = diags_array(scale) @ features
            features = csr_array(diags_array(scale) @ (adjacency @ scaled + scaled))
            if features.nnz > _SPARSE * features.shape[0] * features.shape[1]:
                features = dense(features)
        else:
            factor = torch.from_numpy(scale)[:, None]
            scaled = dense(features) * factor
            features = (as_torch(adjacency, torch.device("cpu")) @ scaled).add_(scaled).mul_(factor)
    return features


def _in_file(features: Features, adjacency: Any, scale: np.ndarray[Any, Any]) -> Records | None:
    """One hop of features that are large, in a file; None if they are not, or the cache can't be written."""
    if issparse(features) or not stays_in_file(features.numel() * features.element_size()):
        return None
    try:
        return propagate_in_file(features, adjacency, scale)
    except ArtifactError as error:
        if isinstance(features, LazyArray):
            raise
        warn(f"{error}; until then they are in memory")
        return None


def _scale(adjacency: Any) -> np.ndarray[Any, Any]:
    """D^-1/2 of the graph with self-loops, [N]."""
    scale: np.ndarray[Any, Any] = (1.0 / np.sqrt(np.diff(adjacency.indptr) + 1.0)).astype(np.float32)
    return scale
