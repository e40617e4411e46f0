"""A graph of PyTorch Geometric, as a source."""

import sys
import warnings
from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
from scipy.sparse import csr_array
from torch import Tensor, strided

from lqm.graphs.sources.cleaning import RawGraph, ReadOptions, as_source, clean
from lqm.graphs.sources.edges import WEIGHTS, unweighted
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.splits import MASKS, split_of_masks
from lqm.utils.errors import DataError


def is_pyg(source: object) -> bool:
    """Whether an object is a `Data` of PyG, or a list or dataset of such, without importing PyG."""
    module = sys.modules.get("torch_geometric.data")
    if module is None:
        return False
    return isinstance(source[0] if _is_list(source) and source else source, module.Data | module.Dataset)


def from_pyg(
    data: Any,
    name: str = "graph",
    class_names: Sequence[str] | None = None,
    *,
    features: str | None = None,
    split: str | None = None,
    normalise_features: bool = False,
) -> GraphSource:
    """A source made of a `torch_geometric.data.Data`, or of a list or dataset of one.

    It should have `edge_index` [2, E] and `y` [N]; `x` [N, F], dense or sparse; and `train_mask`, `val_mask`
    and `test_mask` if there is a published split. Of several splits, [N, S], the first is used.
    `features`, `split` and `normalise_features` are as `load_graph` takes them.

    Raises:
        DataError: when something is missing or can't be used, such as weights of edges.
    """
    options = ReadOptions(name, features, split, normalise_features, show_progress=False)
    data = _one_graph(data, name)
    for key in ("edge_index", "y"):
        if not isinstance(getattr(data, key, None), Tensor):
            raise DataError(f"'{name}' has no tensor called {key}; a graph should have edge_index and y")
    _refuse_weights(data, name)
    given = {mask: getattr(data, mask, None) for mask in MASKS if split != "random"}
    masks = {mask: _array(tensor) for mask, tensor in given.items() if tensor is not None}
    published, notes = split_of_masks(masks, data.y.shape[0] if data.y.ndim else 0, f"'{name}'")
    x = getattr(data, "x", None)
    x_array = None if x is None else _features(x)
    raw = RawGraph(_array(data.edge_index), _array(data.y), x_array, class_names, published, notes)
    return as_source(clean(raw, options), options)


def _is_list(source: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(source, list | tuple)


def _one_graph(data: Any, name: str) -> Any:
    module = sys.modules.get("torch_geometric.data")
    if not _is_list(data) and not (module and isinstance(data, module.Dataset)):
        return data
    if len(data) != 1:
        raise DataError(
            f"'{name}' is {len(data)} graphs, and lqm condenses the nodes of one; give one of them alone"
        )
    return data[0]


def _refuse_weights(data: Any, name: str) -> None:
    for key in WEIGHTS:
        weights = getattr(data, key, None)
        if weights is None:
            continue
        if not unweighted(_array(weights.float()) if isinstance(weights, Tensor) else np.asarray(weights)):
            raise DataError(
                f"'{name}' has {key} with values other than 1, which is not used: all edges count alike; "
                f"delete it (del data.{key}) to condense the graph without"
            )


def _array(tensor: Tensor) -> Any:
    return tensor.detach().cpu().numpy()


def _features(x: Any) -> Any:
    if not isinstance(x, Tensor):
        return np.asarray(x)
    if x.layout == strided:
        return _array(x.float())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that sparse tensors are in beta
        rows = x.detach().cpu().float().to_sparse_csr()
    # A copy, since features are sorted where they lie.
    pieces = (rows.values().numpy(), rows.col_indices().numpy(), rows.crow_indices().numpy())
    return csr_array(pieces, shape=tuple(rows.shape), copy=True)
