"""A graph of PyTorch Geometric, as a source."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from lqm.graphs.sources.cleaning import RawGraph, ReadOptions, as_source, clean
from lqm.graphs.sources.edges import WEIGHTS, unweighted
from lqm.graphs.sources.rows import rows_of
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.sources.splits import MASKS, split_of_masks
from lqm.utils.errors import DataError
from lqm.utils.sentences import first_line

if TYPE_CHECKING:
    from torch_geometric.data import Data, Dataset


def is_pyg(source: object) -> bool:
    """Whether an object is a `Data` of PyG, or a list or dataset of such, without importing PyG."""
    module = sys.modules.get("torch_geometric.data")
    if module is None:
        return False
    return isinstance(source[0] if _is_list(source) and source else source, module.Data | module.Dataset)


def from_pyg(
    data: "Data | Dataset | Sequence[Data]",
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
    graph = _one_graph(data, name)
    for key in ("edge_index", "y"):
        if not isinstance(getattr(graph, key, None), Tensor):
            raise DataError(f"'{name}' has no tensor called {key}; a graph should have edge_index and y")
    _refuse_weights(graph, name)
    given = {mask: getattr(graph, mask, None) for mask in MASKS if split != "random"}
    masks = {key: _array(mask, f"{key} of '{name}'") for key, mask in given.items() if mask is not None}
    published, notes = split_of_masks(masks, graph.y.shape[0] if graph.y.ndim else 0, f"'{name}'")
    x = getattr(graph, "x", None)
    x_array = None if x is None else _features(x, f"x of '{name}'")
    edges, labels = (_array(getattr(graph, key), f"{key} of '{name}'") for key in ("edge_index", "y"))
    raw = RawGraph(edges, labels, x_array, class_names, published, notes)
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
        if not unweighted(_array(weights, f"{key} of '{name}'")):
            raise DataError(
                f"'{name}' has {key} with values other than 1, which is not used: all edges count alike; "
                f"delete it (del data.{key}) to condense the graph without"
            )


def _array(value: Any, what: str) -> Any:
    """A tensor, or what NumPy makes an array of; short floats as float32, since NumPy lacks some of them."""
    try:
        if not isinstance(value, Tensor):
            return np.asarray(value)
        short = value.is_floating_point() and value.element_size() < 4
        return (value.detach().float() if short else value.detach()).cpu().numpy()
    except (RuntimeError, TypeError, ValueError) as error:
        raise DataError(
            f"{what} is no array of numbers ({first_line(error)}); give a dense tensor"
        ) from error


def _features(x: Any, what: str) -> Any:
    if not isinstance(x, Tensor) or x.layout == torch.strided:
        return _array(x, what)
    if x.ndim != 2 or x.is_complex():
        raise DataError(f"{what} is sparse, of shape {list(x.shape)} and type {x.dtype}; give floats [N, F]")
    x = x.detach().cpu()
    if x.layout == torch.sparse_coo:
        return _rows_of_entries(x, what)
    if x.layout not in (torch.sparse_csr, torch.sparse_csc):
        raise DataError(f"{what} is {x.layout}; give sparse features as torch.sparse_csr or torch.sparse_coo")
    # A copy, since features are sorted where they lie.
    by_rows = x.layout == torch.sparse_csr
    pieces = (x.col_indices(), x.crow_indices()) if by_rows else (x.row_indices(), x.ccol_indices())
    values, places, starts = (_array(piece, what).copy() for piece in (x.values(), *pieces))
    matrix = rows_of(values, places, starts, tuple(x.shape[:: 1 if by_rows else -1]), place=what)
    return matrix if by_rows else csr_array(matrix.T)


def _rows_of_entries(x: Tensor, what: str) -> Any:
    """A COO tensor by rows; its numbers are checked first, since torch need not have done it."""
    places, values = _array(x._indices(), what), _array(x._values(), what)
    inside = (places >= 0) & (places < np.array(x.shape)[:, None])
    if values.ndim != 1 or not inside.all():
        raise DataError(f"{what} has entries outside of its shape {list(x.shape)}; make the tensor again")
    order = np.argsort(places[0], kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(places[0], minlength=x.shape[0]))])
    return rows_of(values[order], places[1][order], starts, tuple(x.shape), place=what)
