"""Images in Parquet files, in the layout of the Hugging Face hub."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias

import numpy as np
from torch import Tensor

from lqm.images.sources.convert import labels_of, names_of
from lqm.images.sources.decoding import Chunks, ImageStack, decode_set, in_threads
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.image_file import Encoded
from lqm.utils.errors import DataError
from lqm.utils.extras import missing
from lqm.utils.files import open_regular
from lqm.utils.limits import require_memory
from lqm.utils.parquet_pages import check_footer, largest_page
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
except ImportError as error:
    raise missing("a Parquet file", "pyarrow", "parquet") from error

_IMAGES = ("img", "image")
_LABELS = ("label", "labels", "fine_label")
_ROWS = 256
_AT_A_TIME = 1 << 25  # bytes of images; with more at a time it takes longer
_SMALLEST = 64 + 8  # bytes of the smallest image and its label


# Of files and the side of the squares that all images become: the images, for a stack.
Decoder: TypeAlias = Callable[[list[Path], int | None, ImageStack], Chunks]


class _Table(NamedTuple):
    """One file, opened.

    Attributes:
        images: the column of the images.
        content: the path in the schema of the bytes of the images, the column itself or its field `bytes`.
        labels: the column of the labels.
        class_names: the names of the classes, if it has them.
    """

    path: Path
    stream: BinaryIO
    file: pq.ParquetFile
    images: str
    content: str
    labels: str
    class_names: tuple[str, ...] | None

    @property
    def rows(self) -> int:
        """How many rows there should be."""
        return int(self.file.metadata.num_rows)


def read_parquet(
    train: list[Path], test: list[Path], reading: Reading, decoder: Decoder | None = None
) -> Found:
    """The images of all these files, by way of the cache; no test files, no test set.

    Args:
        train: the files of the training images.
        test: those of the test images.
        reading: how the set is to be read.
        decoder: decodes the files in another way than by threads of this process.
    """
    with ExitStack() as opened:
        parts = [[_open(path, opened) for path in paths] for paths in (train, test)]
        return _read(parts, reading, decoder)


def opened_images(path: Path) -> Generator[Encoded, None, None]:
    """The images of one file."""
    with ExitStack() as opened:
        yield from _images(_open(path, opened))


def _read(parts: list[list[_Table]], reading: Reading, decoder: Decoder | None) -> Found:
    tables = [table for part in parts for table in part]
    names = {table.class_names for table in tables}
    if len(names) > 1:
        raise DataError(
            f"{tables[0].path.parent} has files with different class names; they should be the same"
        )
    rows = sum(table.rows for table in tables)
    require_memory(rows * _SMALLEST, f"the {rows:,} rows that {tables[0].path.parent} claims to have")
    labels = (_labels(parts[0]), _labels(parts[1]) if parts[1] else None)
    class_names = names_of(names.pop(), labels[0], str(tables[0].path))
    encoded = (image for table in tables for image in _images(table))
    root, files = tables[0].path.parent, [table.path for table in tables]
    decoded = partial(decoder, files, reading.size) if decoder else partial(in_threads, encoded, reading.size)
    return decode_set(decoded, labels, class_names, reading, described="parquet", root=root, files=files)


def _open(path: Path, opened: ExitStack) -> _Table:
    stream = opened.enter_context(open_regular(path))
    check_footer(stream, str(path))
    try:
        file = pq.ParquetFile(stream)
        names, schema = file.schema_arrow.names, file.schema_arrow
    except Exception as error:  # a damaged file can make pyarrow raise nearly anything
        raise DataError(
            f"{path} can't be read as Parquet ({reason(error)}); make or fetch it again"
        ) from error
    labels = next((name for name in _LABELS if name in names), None)
    images = next((name for name in _IMAGES if name in names), None)
    structs = [field.name for field in schema if _has_bytes(field.type)]
    if len(structs) == 1:
        images = images or structs[0]
    if images is None or labels is None:
        raise DataError(
            f"{path} has the columns {shown(', '.join(names), 300)}; it should have images in 'img' or "
            f"'image' and labels in one of {', '.join(_LABELS)}"
        )
    for column in (images, labels):
        if names.count(column) > 1:
            raise DataError(f"{path} has {names.count(column)} columns '{column}'; rename all but one")
    kind = schema.field(images).type
    if not (_has_bytes(kind) or _is_binary(kind)):
        raise DataError(
            f"'{shown(images)}' of {path} has type {shown(str(kind))}; it should hold the bytes of "
            "image files, as struct<bytes: binary, path: string> or as binary"
        )
    if not _is_number(schema.field(labels).type):
        raise DataError(
            f"'{labels}' of {path} has type {shown(str(schema.field(labels).type))}, so its labels are "
            "not whole numbers; number the classes 0, 1, 2 and so on"
        )
    content = f"{images}.bytes" if _has_bytes(kind) else images
    return _Table(path, stream, file, images, content, labels, _class_names(schema, labels, path))


def _has_bytes(kind: pa.DataType) -> bool:
    """Whether it is a struct with bytes; a text would be a name, and is not taken for an image."""
    return bool(pa.types.is_struct(kind)) and any(
        field.name == "bytes" and _is_binary(field.type) for field in kind
    )


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _class_names(schema: pa.Schema, labels: str, path: Path) -> tuple[str, ...] | None:
    """The names in the metadata that the hub's tools write: info.features.<labels>.names."""
    try:
        described = json.loads((schema.metadata or {})[b"huggingface"])
        names = described["info"]["features"][labels]["names"]
    except (KeyError, TypeError):
        return None
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"the metadata 'huggingface' of {path} can't be read ({reason(error)}); write the file without it"
        ) from error
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise DataError(
            f"the class names in the metadata of {path} are no list of names; write the file without them"
        )
    return tuple(names)


def _labels(tables: list[_Table]) -> Tensor:
    columns = [
        column.to_numpy(zero_copy_only=False) for t in tables for column in _column(t, t.labels, _ROWS**2)
    ]
    numbers = np.concatenate([np.empty(0, np.int64), *columns])
    return labels_of(numbers, len(numbers), f"'{tables[0].labels}' of {tables[0].path}")


def _column(table: _Table, name: str, most: int) -> Iterator[pa.Array]:
    """The values of a column, so many rows at a time that they take little memory, whatever they repeat."""
    largest = largest_page(table.stream, _leaf(table, name), f"'{name}' of {table.path}")
    rows = max(1, min(most, _AT_A_TIME // largest)) if name == table.content else most
    came = 0
    try:
        for batch in table.file.iter_batches(rows, columns=[name]):
            came += len(batch)
            if came > table.rows:
                break
            yield batch.column(0)
    except Exception as error:  # a damaged file can make pyarrow raise nearly anything
        raise DataError(f"{table.path} is damaged ({reason(error)}); make or fetch it again") from error
    if came != table.rows:
        raise DataError(
            f"{table.path} is damaged ('{name}' has not the {table.rows:,} rows that it claims); "
            "make or fetch it again"
        )


def _leaf(table: _Table, name: str) -> int:
    """The number of a column among the leaves of the schema."""
    try:
        schema = table.file.schema
        return [schema.column(number).path for number in range(len(schema))].index(name)
    except Exception as error:  # a damaged file can make pyarrow raise nearly anything
        raise DataError(f"{table.path} is damaged ({reason(error)}); make or fetch it again") from error


def _images(table: _Table) -> Iterator[Encoded]:
    row = -1
    for part in _column(table, table.content, _ROWS):
        files = pc.struct_field(part, "bytes") if pa.types.is_struct(part.type) else part
        for content in files.to_pylist():
            row += 1
            place = f"row {row} of {table.path}"
            if content is None:
                raise DataError(f"{place} has no image; leave the row out")
            yield Encoded(partial(_itself, content), place, len(content))


def _itself(content: bytes) -> bytes:
    return content
