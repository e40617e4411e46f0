"""A table in a Parquet file: columns of numbers, and one of labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from lqm.tabular.sources.found import FoundTable
from lqm.utils.errors import DataError
from lqm.utils.extras import missing
from lqm.utils.files import open_regular
from lqm.utils.limits import require_memory
from lqm.utils.parquet_pages import check_footer, largest_page
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as error:
    raise missing("a Parquet file", "pyarrow", "parquet") from error

# How many times the features are there in float64 while they are read, checked and split.
_COPIES = 4


def holds_table(path: Path) -> bool:
    """Whether a file has columns, none of which could be images; False as well when it can't be read."""
    try:
        with _opened(path) as (_, file):
            return not any(_may_be_images(field.type) for field in file.schema_arrow)
    except DataError:
        return False


def read_parquet(path: Path, label: str | None) -> FoundTable:
    """The columns of numbers of a file; the label is in the column of that name, or in the last one.

    Raises:
        DataError: naming the column that can't be used, and the row of a cell that is empty.
    """
    with _opened(path) as (stream, file):
        schema = file.schema_arrow
        names = list(schema.names)
        label = names[-1] if label is None and names else label
        if names.count(label) != 1 or len(names) < 2:
            found = {0: "no column", 1: "1 column"}.get(names.count(label), f"{names.count(label)} columns")
            raise DataError(
                f"{path} has {found} '{shown(str(label))}'; it should have one of labels beside its "
                f"features, and has {shown(', '.join(names), 300)}"
            )
        features = [name for name in names if name != label]
        for name in features:
            if not _is_number(schema.field(names.index(name)).type):
                kind = shown(str(schema.field(names.index(name)).type))
                raise DataError(
                    f"column '{shown(name)}' of {path} has type {kind}; encode it as numbers, or leave it out"
                )
        rows = int(file.metadata.num_rows)
        require_memory(_COPIES * 8 * rows * len(names), f"the {rows:,} rows that {path} claims to have")
        columns = [_column(stream, file, names.index(name), path) for name in names]
    table = np.empty((rows, len(features)), np.float64)
    for place, name in enumerate(features):
        table[:, place] = columns[names.index(name)]
    return FoundTable(table, columns[names.index(label)], tuple(features))


@contextmanager
def _opened(path: Path) -> Iterator[tuple[BinaryIO, pq.ParquetFile]]:
    with open_regular(path) as stream:
        check_footer(stream, str(path))
        try:
            file = pq.ParquetFile(stream)
            file.schema_arrow  # noqa: B018  it is read when it is asked for
        except Exception as error:  # a damaged file can make pyarrow raise nearly anything
            raise DataError(
                f"{path} can't be read as Parquet ({reason(error)}); make or fetch it again"
            ) from error
        yield stream, file


def _column(stream: BinaryIO, file: pq.ParquetFile, number: int, path: Path) -> NDArray[Any]:
    """The values of a column that has no fields of its own, so that its number is that of a leaf."""
    name = file.schema_arrow.names[number]
    place = f"'{shown(name)}' of {path}"
    largest_page(stream, number, place)
    try:
        # By number and not by name: a dot in a name would be taken for the field of a struct.
        values = file.reader.read_column(number)
        found = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        empty = found.null_count and int(np.flatnonzero(found.is_null())[0])
        array: NDArray[Any] = np.asarray(found.to_numpy(zero_copy_only=False))
    except Exception as error:  # a damaged file can make pyarrow raise nearly anything
        raise DataError(f"{path} is damaged ({reason(error)}); make or fetch it again") from error
    if found.null_count:
        raise DataError(f"row {empty}, column {place} is empty; fill it in, or leave the row out")
    if len(array) != file.metadata.num_rows:
        raise DataError(f"{path} is damaged ({place} has not all rows); make or fetch it again")
    return array


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _may_be_images(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
