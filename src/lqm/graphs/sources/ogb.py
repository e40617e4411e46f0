"""The folders of the Open Graph Benchmark (Hu et al. 2020), as its node sets unpack: gzipped CSV."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from pyarrow import csv

from lqm.engine.progress import Progress
from lqm.graphs.sources.cache import cached, content_key
from lqm.graphs.sources.found import Clean, Found, Reading, clean
from lqm.graphs.sources.splits import Split
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

Array = np.ndarray[Any, Any]

_EDGES = "raw/edge.csv.gz"
_FEATURES = "raw/node-feat.csv.gz"
_LABELS = "raw/node-label.csv.gz"
_COUNT = "raw/num-node-list.csv.gz"
_NAMES = "mapping/labelidx2*.csv.gz"
_PARTS = ("train", "valid", "test")


def read_ogb(folder: Path, reading: Reading) -> Clean:
    """The graph in a folder, by way of the cache.

    Raises:
        DataError: when a file is missing, damaged, or doesn't go with the others.
        ConfigError: when features are to be made for a graph that has some.
    """
    if (folder / _FEATURES).is_file():
        reading.refuse_features()
    files = [folder / name for name in (_EDGES, _LABELS, _COUNT)]
    files += [*folder.glob(_FEATURES), *sorted(folder.glob(_NAMES))]
    for file in files:
        if not file.is_file():
            raise DataError(f"there is no {file}; unpack the whole set, as it was published")
    splits = sorted(place for place in folder.glob("split/*") if place.is_dir())
    if splits:
        files += [splits[0] / f"{part}.csv.gz" for part in _PARTS]
    key = content_key(f"ogb/{reading.features}", folder, files)
    return cached(key, lambda: clean(_read(folder, splits, reading), reading))


def _read(folder: Path, splits: list[Path], reading: Reading) -> Found:
    count = _table(folder / _COUNT, "int64")
    if count.shape != (1, 1):
        raise DataError(f"{folder / _COUNT} counts {len(count)} graphs; it should be one")
    nodes = int(count[0, 0])
    labels = _table(folder / _LABELS, "float64")
    features = _features(folder / _FEATURES, nodes, reading) if (folder / _FEATURES).is_file() else None
    notes = (f"of {len(splits)} splits '{splits[0].name}' is used",) if len(splits) > 1 else ()
    if len(labels) != nodes:
        raise DataError(f"{folder / _LABELS} has {len(labels)} labels, but there are {nodes} nodes")
    published = None
    if splits:
        parts = (_table(splits[0] / f"{part}.csv.gz", "int64") for part in _PARTS)
        published = Split(*(torch.from_numpy(part[:, 0].copy()) for part in parts))
    names = _class_names(folder)
    edges = _table(folder / _EDGES, "int32")
    if edges.shape[1] != 2:
        raise DataError(f"{folder / _EDGES} has {edges.shape[1]} columns; it should have 2, the ends")
    return Found((edges[:, 0], edges[:, 1]), labels, features, names, published, notes)


def _open(path: Path, kind: str) -> Any:
    """A reader of a file without a header, batch by batch, all of whose columns are of one kind."""
    read = csv.ReadOptions(autogenerate_column_names=True)
    # Among labels, an empty line is a node without one.
    parse = csv.ParseOptions(ignore_empty_lines=path.name != Path(_LABELS).name)
    names = csv.open_csv(path, read, parse).schema.names
    convert = csv.ConvertOptions(column_types=dict.fromkeys(names, kind))
    return csv.open_csv(path, read, parse, convert)


def _batches(path: Path, kind: str) -> Any:
    """The rows of a file as arrays [n, columns].

    Raises:
        DataError: when the file is damaged, or holds something else than such numbers.
    """
    try:
        for batch in _open(path, kind):
            columns = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
            yield np.stack(columns, axis=1)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(f"{path} can't be read as CSV ({reason(error)}); fetch it again") from error


def _table(path: Path, kind: str) -> Array:
    return np.asfortranarray(np.concatenate(list(_batches(path, kind))))


def _features(path: Path, nodes: int, reading: Reading) -> Array:
    """Features [N, F], written into their place as they come: there is never a second copy of them."""
    table: Array | None = None
    done = 0
    with Progress(f"reading {reading.name}", nodes, shown=reading.show_progress) as progress:
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
