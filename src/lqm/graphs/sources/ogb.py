"""The folders of the Open Graph Benchmark (Hu et al. 2020), as its node sets unpack: gzipped CSV."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from pyarrow import csv

from lqm.engine.progress import Progress
from lqm.graphs.sources.cache import cached, content_key
from lqm.graphs.sources.cleaning import CleanGraph, RawGraph, ReadOptions, clean
from lqm.graphs.sources.splits import Split
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

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
    for file in files:
        if not file.is_file():
            raise DataError(f"there is no {file}; unpack the whole set, as it was published")
    splits = sorted(place for place in folder.glob("split/*") if place.is_dir())
    if splits:
        files += [splits[0] / f"{part}.csv.gz" for part in _PARTS]
    key = content_key(f"ogb/{options.features}", folder, files)
    return cached(key, lambda: clean(_read(folder, splits, options), options))


def _read(folder: Path, splits: list[Path], options: ReadOptions) -> RawGraph:
    count = _table(folder / _COUNT, "int64")
    if count.shape != (1, 1):
        raise DataError(f"{folder / _COUNT} counts {len(count)} graphs; it should be one")
    nodes = int(count[0, 0])
    labels = _table(folder / _LABELS, "float64")
    features = _features(folder / _FEATURES, nodes, options) if (folder / _FEATURES).is_file() else None
    notes = [f"of {len(splits)} splits '{splits[0].name}' is used"] if len(splits) > 1 else []
    if (folder / _EDGE_FEATURES).is_file():
        notes.append(f"features of edges ({_EDGE_FEATURES}) are left out")
    if len(labels) != nodes:
        raise DataError(f"{folder / _LABELS} has {len(labels)} labels, but there are {nodes} nodes")
    published = None
    if splits:
        parts = (_table(splits[0] / f"{part}.csv.gz", "int64") for part in _PARTS)
        published = Split(*(torch.from_numpy(part[:, 0].copy()) for part in parts))
    edges = _table(folder / _EDGES, "int32")
    if edges.shape[1] != 2:
        raise DataError(f"{folder / _EDGES} has {edges.shape[1]} columns; it should have 2, the ends")
    return RawGraph(
        (edges[:, 0], edges[:, 1]), labels, features, _class_names(folder), published, tuple(notes)
    )


def _batches(path: Path, kind: str) -> Any:
    """The rows of a file without a header, all of whose columns are of one type, as arrays [n, columns]."""
    read = csv.ReadOptions(autogenerate_column_names=True)
    # Among labels, an empty line is a node without one.
    parse = csv.ParseOptions(ignore_empty_lines=path.name != Path(_LABELS).name)
    try:
        names = csv.open_csv(path, read, parse).schema.names
        convert = csv.ConvertOptions(column_types=dict.fromkeys(names, kind))
        for batch in csv.open_csv(path, read, parse, convert):
            yield np.stack([column.to_numpy(zero_copy_only=False) for column in batch.columns], axis=1)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path} can't be read as CSV ({reason(error)}); fetch it again") from error


def _table(path: Path, kind: str) -> Array:
    return np.asfortranarray(np.concatenate(list(_batches(path, kind))))


def _features(path: Path, nodes: int, options: ReadOptions) -> Array:
    """Features [N, F], filled batch by batch, so that there is never a second copy of them."""
    table: Array | None = None
    done = 0
    with Progress(f"reading {options.name}", nodes, shown=options.show_progress) as progress:
        for batch in _batches(path, "float32"):
            if table is None:
                table = np.empty((nodes, batch.shape[1]), np.float32)
            if done + len(batch) <= nodes:
                table[done : done + len(batch)] = batch
            done += len(batch)
            progress.update(min(done, nodes), {})
    if table is None or done != nodes:
        raise DataError(f"{path} has {done} rows, but there are {nodes} nodes; a row for each is needed")
    return table


def _class_names(folder: Path) -> tuple[str, ...] | None:
    """The names in the second column of the table of labels, if the set has one; some may be empty."""
    path = next(iter(sorted(folder.glob(_NAMES))), None)
    if path is None:
        return None
    try:
        table = csv.read_csv(path)
        numbers, names = (table.column(place).to_pylist() for place in (0, 1))
        known = {int(number): name for number, name in zip(numbers, names, strict=True)}
        return tuple(str(known.get(number) or number) for number in range(max(known) + 1))
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError) as error:
        raise DataError(f"{path} should hold numbers and names of classes ({reason(error)})") from error
