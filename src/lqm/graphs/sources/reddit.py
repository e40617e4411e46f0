"""The published files of Reddit (Hamilton et al. 2017): `reddit_data.npz` and `reddit_graph.npz`."""

from pathlib import Path

import numpy as np
import torch

from lqm.graphs.sources.cleaning import RawGraph
from lqm.graphs.sources.edges import edges_of_rows
from lqm.graphs.sources.npz import sparse_rows
from lqm.graphs.sources.splits import Split
from lqm.utils.errors import DataError
from lqm.utils.npz import Arrays
from lqm.utils.staying import require_inside

_GRAPH = "reddit_graph.npz"
_DATA = "reddit_data.npz"


def find_reddit(path: Path) -> Path | None:
    """The folder with the two files, which may be `raw` in the one given; None if there is none."""
    return next((folder for folder in (path, path / "raw") if (folder / _GRAPH).is_file()), None)


def read_reddit(folder: Path, root: Path) -> RawGraph:
    """The posts, an edge between those that a person commented on both, and the split by day.

    Both files should lie in the folder `root`.
    """
    if not (folder / _DATA).is_file():
        raise DataError(f"there is no {folder / _DATA}; it should lie beside {_GRAPH}")
    require_inside([folder / _DATA, folder / _GRAPH], root)
    data, graph = Arrays(folder / _DATA), Arrays(folder / _GRAPH)
    types = data["node_types"]
    if types.dtype.kind not in "iu" or types.ndim != 1 or not np.isin(types, (1, 2, 3)).all():
        raise DataError(f"node_types of {data.path} should be 1, 2 or 3, for training, validation and test")
    published = Split(*(torch.from_numpy((types == number).nonzero()[0]) for number in (1, 2, 3)))
    by_ends = {"row", "col"} <= graph.keys
    edges = (graph["row"], graph["col"]) if by_ends else edges_of_rows(sparse_rows(graph, ""))
    return RawGraph(edges, data["label"], data["feature"], None, published)
