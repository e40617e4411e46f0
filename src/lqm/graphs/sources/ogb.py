"""The folders of the Open Graph Benchmark (Hu et al. 2020), as its node sets unpack: gzipped CSV."""

from pathlib import Path
from typing import Any

import numpy as np
import torch

from lqm.engine.progress import Progress
from lqm.graphs.sources.cache import cached, content_key
from lqm.graphs.sources.cleaning import CleanGraph, RawGraph, ReadOptions, clean
from lqm.graphs.sources.splits import Split
from lqm.graphs.sources.tables import batches, names_by_number, table
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.staying import require_inside

Array = np.ndarray[Any, Any]

_EDGES = "raw/edge.csv.gz"
_FEATURES = "raw/node-feat.csv.gz"
_LABELS = "raw/node-label.csv.gz"
_EDGE_FEATURES = "raw/edge-feat.csv.gz"
_COUNT = "raw/num-node-list.csv.gz"
_NAMES = "mapping/labelidx2*.csv.gz"
_PARTS = ("train", "valid", "test")


def read_ogb(folder: Path, options: ReadOptions) -> CleanGraph:
    """The graph in a folder, from the cache if it is there."""
    if (folder / _FEATURES).is_file():
        options.refuse_features()
    files = [folder / name for name in (_EDGES, _LABELS, _COUNT)]
    files += [*folder.glob(_FEATURES), *sorted(folder.glob(_NAMES))]
    splits = sorted(place for place in folder.glob("split/*") if place.is_dir())
    if splits:
        files += [splits[0] / f"{part}.csv.gz" for part in _PARTS]
    for file in files:
        if not file.is_file():
            raise DataError(f"there is no file {file}; unpack the whole set, as it was published")
    require_inside(files, folder)
    try:
        key = content_key(f"ogb/{options.features}", folder, files)
    except UnicodeEncodeError as error:
        raise DataError(f"a file of {folder} has a name that is not UTF-8; rename it") from error
    return cached(key, lambda: clean(_read(folder, splits, options), options))


def _read(folder: Path, splits: list[Path], options: ReadOptions) -> RawGraph:
    count = table(folder / _COUNT, "int64")
    if count.shape != (1, 1):
        raise DataError(f"{folder / _COUNT} counts {len(count)} graphs; it should be one")
    nodes = int(count[0, 0])
    # Among labels, an empty line is a node without one.
    labels = table(folder / _LABELS, "float64", keep_empty=True)
    if len(labels) != nodes:
        raise DataError(f"{folder / _LABELS} has {len(labels)} labels, but there are {nodes} nodes")
    features = _features(folder / _FEATURES, nodes, options) if (folder / _FEATURES).is_file() else None
    notes = [f"of {len(splits)} splits '{splits[0].name}' is used"] if len(splits) > 1 else []
    if (folder / _EDGE_FEATURES).is_file():
        notes.append(f"features of edges ({_EDGE_FEATURES}) are left out")
    published = None
    if splits:
        parts = (table(splits[0] / f"{part}.csv.gz", "int64") for part in _PARTS)
        published = Split(*(torch.from_numpy(part[:, 0].copy()) for part in parts))
    edges = table(folder / _EDGES, "int32")
    if edges.shape[1] != 2:
        raise DataError(f"{folder / _EDGES} has {edges.shape[1]} columns; it should have 2, the ends")
    return RawGraph(
        (edges[:, 0], edges[:, 1]), labels, features, _class_names(folder), published, tuple(notes)
    )


def _features(path: Path, nodes: int, options: ReadOptions) -> Array:
    """Features [N, F], filled batch by batch, so that there is never a second copy of them."""
    filled: Array | None = None
    done = 0
    with Progress(f"reading {options.name}", nodes, shown=options.show_progress) as progress:
        for batch in batches(path, "float32"):
            if filled is None:
                require_memory(4 * nodes * batch.shape[1], f"the features in {path}")
                filled = np.empty((nodes, batch.shape[1]), np.float32)
            if done + len(batch) > nodes:
                rows = done + len(batch)
                raise DataError(f"{path} has {rows} rows or more, but there are {nodes} nodes")
            filled[done : done + len(batch)] = batch
            done += len(batch)
            progress.update(done, {})
    if filled is None or done != nodes:
        raise DataError(f"{path} has {done} rows, but there are {nodes} nodes; a row for each is needed")
    return filled


def _class_names(folder: Path) -> dict[int, str] | None:
    """The names in the table of labels, if the set has one."""
    path = next(iter(sorted(folder.glob(_NAMES))), None)
    return None if path is None else names_by_number(path)
