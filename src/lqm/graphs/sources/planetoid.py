"""The raw files of Planetoid (Yang et al. 2016): `ind.NAME.allx`, `ind.NAME.graph` and so on."""

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, vstack

from lqm.graphs.sources.cleaning import RawGraph
from lqm.graphs.sources.rows import rows_of
from lqm.graphs.sources.splits import Split
from lqm.utils.array_calls import SparseState
from lqm.utils.arrays import read_arrays
from lqm.utils.errors import DataError
from lqm.utils.files import read_whole
from lqm.utils.limits import require_memory
from lqm.utils.staying import require_inside

Array = np.ndarray[Any, Any]

_VALIDATION = 500
# What a node takes while its features and its label are found, and an edge or a test node while it is read.
_NODE_BYTES, _NUMBER_BYTES = 64, 64


def find_planetoid(path: Path) -> list[Path]:
    """Each `ind.NAME.graph` in a folder or its `raw`, or the one that the path leads to."""
    if path.is_file():
        return [path] if path.match("ind.*.graph") else []
    found = (sorted(path.glob(f"{inside}ind.*.graph")) for inside in ("", "raw/"))
    return next(([file for file in files if file.is_file()] for files in found if files), [])


def read_planetoid(graphs: list[Path], root: Path) -> RawGraph:
    """The graph whose `ind.NAME.graph` is given; the other files lie beside it.

    Nodes that `test.index` leaves out have neither features nor a label, as in citeseer. All files should
    lie in the folder `root`.
    """
    graph, *others = graphs
    if others:
        names = ", ".join(file.name for file in graphs)
        raise DataError(f"{graph.parent} has several graphs, {names}; give the path of one of these files")
    stem = graph.name.removesuffix("graph")
    endings = ("allx", "tx", "ally", "ty", "y", "test.index")
    files = [graph.with_name(f"{stem}{ending}") for ending in endings]
    for path in files:
        if not path.is_file():
            raise DataError(f"there is no {path}; it should lie beside {graph.name}")
    require_inside([graph, *files], root)
    allx, tx, ally, ty, y, test_index = files
    known, tested = _sparse(allx), _sparse(tx)
    labels, test_labels = _array(ally), _array(ty)
    order = _test_index(test_index)
    first = known.shape[0]
    train = len(_array(y))
    widths = known.shape[1] == tested.shape[1] and labels.shape[1] == test_labels.shape[1]
    lengths = train <= first == len(labels) and 0 < len(order) == len(test_labels) == tested.shape[0]
    if not widths or not lengths:
        raise DataError(
            f"{graph.parent} has {first} and {tested.shape[0]} rows in {stem}allx and tx, {len(labels)} and "
            f"{len(test_labels)} in ally and ty, and {len(order)} in test.index; fetch the files again"
        )
    if len(np.unique(order)) != len(order) or order.min() < first or order.max() >= 2**62:
        raise DataError(f"{test_index} should list other nodes than the first {first}, once each")
    sources, targets = _edges(graph)
    nodes = 1 + max(int(order.max()), int(sources.max(initial=0)))
    require_memory(_NODE_BYTES * nodes, f"{nodes:,} nodes, the highest in {graph} and {test_index.name},")
    # The row of each node among those of allx, of tx, and one of zeros.
    rows = np.full(nodes, first + len(order))
    rows[:first] = np.arange(first)
    rows[order] = first + np.arange(len(order))
    zeros = csr_array((1, known.shape[1]), dtype=np.float32)
    features = csr_array(vstack([known, tested, zeros], format="csr"))[rows]
    numbers = np.concatenate([_classes(labels), _classes(test_labels), [-1]])[rows]
    validation = torch.arange(train, min(train + _VALIDATION, first))
    published = Split(torch.arange(train), validation, torch.from_numpy(order))
    missing = nodes - first - len(order)
    notes = (f"{missing:,} test nodes have no features: theirs are 0",) if missing else ()
    return RawGraph((sources, targets), numbers, features, None, published, notes)


def _sparse(path: Path) -> Any:
    matrix = read_arrays(path)
    if not isinstance(matrix, SparseState):
        raise DataError(f"{path} should hold a sparse matrix; fetch it again")
    state = matrix.state
    data, indices, indptr = (state.get(name) for name in ("data", "indices", "indptr"))
    if not all(isinstance(piece, np.ndarray) for piece in (data, indices, indptr)):
        raise DataError(f"{path} holds a sparse matrix without data, indices or indptr; fetch it again")
    return rows_of(data, indices, indptr, state.get("_shape", state.get("shape")), place=str(path))


def _array(path: Path) -> Array:
    array = read_arrays(path)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or not array.shape[1]:
        raise DataError(f"{path} should hold an array of 0 and 1, a column a class; fetch it again")
    return array


def _classes(one_hot: Array) -> Array:
    return np.where(one_hot.any(axis=1), one_hot.argmax(axis=1), -1)


def _test_index(path: Path) -> Array:
    content = read_whole(path)
    require_memory(_NUMBER_BYTES * len(content), f"the numbers in {path}")
    try:
        return np.array([int(word) for word in content.split()], np.int64)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path} should hold numbers of nodes, one a line; fetch it again") from error


def _edges(path: Path) -> tuple[Array, Array]:
    graph = read_arrays(path)
    try:
        lengths = [len(neighbours) for neighbours in graph.values()]
        require_memory(_NUMBER_BYTES * sum(lengths), f"the edges in {path}")
        sources = np.repeat(np.fromiter(graph, np.int64), lengths)
        targets = np.fromiter(chain.from_iterable(graph.values()), np.int64)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        raise DataError(f"{path} should hold a list of neighbours for each node; fetch it again") from error
    return sources, targets
