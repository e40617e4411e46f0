"""Images in Parquet files, in the layout of the Hugging Face hub."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from torch import Tensor

from lqm.images.sources.convert import labels_of, names_of
from lqm.images.sources.decoding import decode_set
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded
from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

_IMAGES = ("img", "image")
_LABELS = ("label", "labels", "fine_label")
_ROWS = 256


class _Table(NamedTuple):
    """One file, opened: its columns of images and labels, and the names of the classes if it has them."""

    path: Path
    file: pq.ParquetFile
    images: str
    labels: str
    class_names: tuple[str, ...] | None


def parquet_parts(folder: Path) -> tuple[list[Path], list[Path]] | None:
    """The files for training and for testing, in a folder or else in a sub-folder; None if there are none."""
    subfolders = sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for place in (folder, *subfolders):
        train, test, val = (sorted(place.glob(f"{start}*.parquet")) for start in ("train", "test", "val"))
        if train:
            return train, test or val
        if any(place.glob("*.parquet")):
            raise DataError(
                f"{place} has .parquet files but none called train*.parquet; rename them, or give one"
            )
    return None


def read_parquet(train: list[Path], test: list[Path], reading: Reading) -> Found:
    """The images of all these files, by way of the cache; no test files, no test set."""
    parts = [[_open(path) for path in paths] for paths in (train, test)]
    tables = [table for part in parts for table in part]
    names = {table.class_names for table in tables}
    if len(names) > 1:
        raise DataError(
            f"{tables[0].path.parent} has files with different class names; they should be the same"
        )
    labels = (_labels(parts[0]), _labels(parts[1]) if test else None)
    class_names = names_of(names.pop(), labels[0], str(train[0]))
    encoded = (image for table in tables for image in _images(table))
    root, files = train[0].parent, [*train, *test]
    return decode_set(encoded, labels, class_names, reading, described="parquet", root=root, files=files)


def _open(path: Path) -> _Table:
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"{path} can't be read as Parquet ({reason(error)}); make or fetch it again"
        ) from error
    schema = file.schema_arrow
    labels = next((name for name in _LABELS if name in schema.names), None)
    images = next((name for name in _IMAGES if name in schema.names), None)
    structs = [field.name for field in schema if _has_bytes(field.type)]
    if len(structs) == 1:
        images = images or structs[0]
    if images is None or labels is None:
        raise DataError(
            f"{path} has the columns {', '.join(schema.names)}; it should have images in 'img' or 'image' "
            f"and labels in one of {', '.join(_LABELS)}"
        )
    if not (_has_bytes(schema.field(images).type) or _is_binary(schema.field(images).type)):
        raise DataError(
            f"'{images}' of {path} has type {schema.field(images).type}; it should hold image files, "
            "as struct<bytes: binary, path: string> or as binary"
        )
    return _Table(path, file, images, labels, _class_names(schema, labels))


def _has_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0)


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _class_names(schema: pa.Schema, labels: str) -> tuple[str, ...] | None:
    """The names in the metadata that the hub's tools write: info.features.<labels>.names."""
    try:
        described = json.loads((schema.metadata or {})[b"huggingface"])
        return tuple(str(name) for name in described["info"]["features"][labels]["names"])
    except (KeyError, TypeError, ValueError):
        return None


def _labels(tables: list[_Table]) -> Tensor:
    columns = [column.to_numpy(zero_copy_only=False) for t in tables for column in _column(t, t.labels)]
    numbers = np.concatenate([np.empty(0, np.int64), *columns])
    return labels_of(numbers, len(numbers), f"'{tables[0].labels}' of {tables[0].path}")


def _column(table: _Table, name: str) -> Iterator[pa.Array]:
    batches = table.file.iter_batches(_ROWS, columns=[name])
    while True:
        try:
            batch = next(batches, None)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{table.path} is damaged ({reason(error)}); make or fetch it again") from error
        if batch is None:
            return
        yield batch.column(0)


def _images(table: _Table) -> Iterator[Encoded]:
    columns = _column(table, table.images)
    files = (pc.struct_field(part, "bytes") if _has_bytes(part.type) else part for part in columns)
    for row, content in enumerate(chain.from_iterable(part.to_pylist() for part in files)):
        place = f"row {row} of {table.path}"
        if content is None:
            raise DataError(f"{place} has no image; leave the row out")
        yield Encoded(content, place)
