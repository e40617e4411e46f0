"""Message passing on features that are too large for the memory, in blocks of rows and into a file."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from lqm.graphs.graph import add_features, add_sparse
from lqm.graphs.matrices import as_torch
from lqm.utils.cache import Packed, drafted, kept, load_kept
from lqm.utils.errors import ArtifactError
from lqm.utils.stored_arrays import Records, StoredArray
from lqm.utils.tensor_drafts import TensorDraft

_KIND, _NAME = "graphs", "propagated"
_EDITION = 1
# Bytes of features of neighbours that are in memory at once, or those of one node's if they are more.
_AT_ONCE = 1 << 27


def propagate_in_file(features: Records, adjacency: Any, scale: np.ndarray[Any, Any]) -> Records:
    """One hop, A_hat X, kept in the cache and read from there; the same numbers as in memory.

    Args:
        features: X, [N, F], in memory or in a file.
        adjacency: as `Graph` has it.
        scale: D^-1/2 of the graph with self-loops, [N].

    Raises:
        ArtifactError: when the cache can't be written.
    """
    digest = hashlib.sha256(f"{_NAME}/{_EDITION}".encode())
    add_features(features, digest)
    add_sparse(adjacency, digest)
    key = digest.hexdigest()[:32]

    def make() -> Records:
        try:
            with ExitStack() as opened:
                draft = opened.enter_context(drafted(_KIND, key))
                counts, shape = {_NAME: len(features)}, tuple(features.shape[1:])
                file = TensorDraft(draft.file, {}, counts, shape, np.dtype(np.float32), draft.metadata({}))
                for block in _blocks(features, adjacency, torch.from_numpy(scale)[:, None]):
                    for row in block.numpy():
                        file.add(row)
                file.finish()
                return _unpack(load_kept(draft.keep(), key, (_NAME,)))
        except OSError as error:
            raise ArtifactError(
                f"the propagated features can't be kept in the cache ({error.strerror or error}); set "
                "LQM_CACHE to a folder with room, or raise --max-memory"
            ) from error

    return kept(_KIND, key, make, pack=lambda made: None, unpack=_unpack, lazily=(_NAME,))


def _unpack(packed: Packed) -> Records:
    found: dict[str, Tensor | StoredArray] = {**packed.tensors, **packed.stored}
    return found[_NAME]


def _blocks(features: Records, adjacency: Any, factor: Tensor) -> Iterator[Tensor]:
    """A_hat X, some rows at a time: those whose neighbours are in memory at once."""
    most = max(1, _AT_ONCE // (4 * features.shape[1]))
    starts, first = adjacency.indptr, 0
    while first < len(features):
        last = int(np.searchsorted(starts, starts[first] + most, side="right")) - 1
        last = min(max(last, first + 1), first + most, len(features))
        yield _block(features, adjacency, factor, first, last)
        first = last


def _block(features: Records, adjacency: Any, factor: Tensor, first: int, last: int) -> Tensor:
    begin, end = adjacency.indptr[[first, last]]
    columns, places = np.unique(adjacency.indices[begin:end], return_inverse=True)
    own = features[first:last] * factor[first:last]
    if not len(columns):
        return own.mul_(factor[first:last])
    chosen = torch.from_numpy(columns.astype(np.int64))
    rows = (adjacency.data[begin:end], places, adjacency.indptr[first : last + 1] - begin)
    block = csr_array(rows, shape=(last - first, len(columns)))
    near = features[chosen] * factor[chosen]
    return (as_torch(block, torch.device("cpu")) @ near).add_(own).mul_(factor[first:last])
