"""Tables of numbers in gzipped CSV without a header, read piece by piece within the limit of memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lqm.utils.errors import DataError
from lqm.utils.extras import missing
from lqm.utils.limits import require_memory
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

try:
    import pyarrow as pa
    from pyarrow import csv
except ImportError as error:
    raise missing("a table of OGB", "pyarrow", "graphs") from error

Array = np.ndarray[Any, Any]

# What the reader takes for a column, besides its values.
_COLUMN_BYTES = 10_240
_FIRST_LINE = 2**20


def batches(path: Path, kind: str, *, keep_empty: bool = False) -> Iterator[Array]:
    """The rows of a file, all of whose columns are of one type, as arrays [n, columns].

    Args:
        path: of a `.csv` or `.csv.gz`.
        kind: of the numbers; an empty cell is NaN among floats, and refused among whole numbers.
        keep_empty: whether an empty line is a row.
    """
    read = csv.ReadOptions(autogenerate_column_names=True, block_size=_FIRST_LINE)
    parse = csv.ParseOptions(ignore_empty_lines=not keep_empty)
    try:
        names = [f"f{number}" for number in range(_columns(path))]
        convert = csv.ConvertOptions(column_types=dict.fromkeys(names, kind))
        for batch in csv.open_csv(path, read, parse, convert):
            if not kind.startswith("float") and any(column.null_count for column in batch.columns):
                raise ValueError("a cell is empty")
            part = np.stack([column.to_numpy(zero_copy_only=False) for column in batch.columns], axis=1)
            if part.dtype != kind:
                raise ValueError(f"a column is {part.dtype} and should be {kind}")
            yield part
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise unreadable(path, error) from error


def table(path: Path, kind: str, *, keep_empty: bool = False) -> Array:
    """All rows of a file, [n, columns], each column in one piece of memory."""
    parts, size = [], 0
    for part in batches(path, kind, keep_empty=keep_empty):
        size += part.nbytes
        # They are there twice while they are joined, and a third time in their order.
        require_memory(3 * size, f"the numbers in {path}")
        parts.append(part)
    if not parts:
        raise DataError(f"{path} can't be read as CSV (it has no row); fetch it again")
    return np.asfortranarray(np.concatenate(parts))


def names_by_number(path: Path) -> dict[int, str]:
    """The names in the second column of a table with a header, by the numbers in the first; not the empty."""
    found: dict[int, str] = {}
    size = 0
    try:
        _columns(path)
        for batch in csv.open_csv(path):
            size += batch.nbytes + _COLUMN_BYTES
            require_memory(10 * size, f"the names in {path}")
            numbers, names = (batch.column(place).to_pylist() for place in (0, 1))
            found |= {int(number): _text(name) for number, name in zip(numbers, names, strict=True) if name}
    except (pa.ArrowException, OSError, ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataError(
            f"{path} should hold numbers and names of classes ({shown(reason(error))}); fetch it again"
        ) from error
    return found


def unreadable(path: Path, error: Exception) -> DataError:
    """The sentence about a file that is no table of numbers."""
    return DataError(f"{path} can't be read as CSV ({shown(reason(error))}); fetch it again")


def _columns(path: Path) -> int:
    """The number of columns, after a look at the first line alone."""
    with pa.input_stream(path) as file:
        first = file.read(_FIRST_LINE)
    line = first.lstrip(b"\r\n").partition(b"\n")[0]
    count = int(line.count(b",")) + 1
    require_memory(_COLUMN_BYTES * count, f"the {count:,} columns of {path}")
    return count


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)
