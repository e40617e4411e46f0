"""A table in a `.csv` file: a header, a column of labels, and columns of numbers."""

import csv
from array import array
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path

import numpy as np

from lqm.tabular.sources.found import FoundTable
from lqm.utils.errors import DataError
from lqm.utils.files import open_regular, size_of
from lqm.utils.limits import require_memory
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

# Bytes of memory for each byte of a file, as numbers and texts of one digit and a comma take at most.
_BYTES_A_BYTE = 48


def read_csv(path: Path, label: str | None) -> FoundTable:
    """The rows of a file; the label is in the column of that name, or in the last one.

    Raises:
        DataError: naming the row and the column that can't be used; the header is row 1.
    """
    with open_regular(path) as stream:
        require_memory(_BYTES_A_BYTE * size_of(stream), f"the rows of {path}")
        lines = csv.reader(TextIOWrapper(stream, "utf-8-sig", newline=""), strict=True)
        try:
            return _read(lines, path, label)
        except (csv.Error, UnicodeDecodeError) as error:
            raise DataError(
                f"{path} can't be read as .csv ({reason(error)}); save it as UTF-8 with commas between cells"
            ) from error


def _read(lines: Iterator[list[str]], path: Path, label: str | None) -> FoundTable:
    header = next(lines, [])
    if len(header) < 2:
        raise DataError(
            f"{path} has {len(header)} columns; it should have a header, a label and at least one feature"
        )
    if all(_is_number(cell) for cell in header):
        raise DataError(f"{path} begins with numbers; its first row should name the columns")
    place = _place(header, label, path)
    numbers, labels = array("d"), []
    for row, cells in enumerate(lines, start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise DataError(f"row {row} of {path} has {len(cells)} cells, and the header {len(header)}")
        labels.append(cells.pop(place))
        try:
            numbers.extend(map(float, cells))
        except ValueError:
            column = next(number for number, cell in enumerate(cells) if not _is_number(cell))
            name = header[column + (column >= place)]
            found = f"has {shown(cells[column], 40)!r}, which is no number" if cells[column] else "is empty"
            raise DataError(
                f"row {row}, column '{shown(name)}' of {path} {found}; encode it as a number, or leave the "
                "column or the row out"
            ) from None
    if not labels:
        raise DataError(f"{path} has a header and no rows; it should have a row a record")
    names = tuple(header[:place] + header[place + 1 :])
    features = np.frombuffer(numbers, np.float64).reshape(len(labels), len(names))
    return FoundTable(features, _whole_numbers(labels), names)


def _place(header: list[str], label: str | None, path: Path) -> int:
    """The number of the column of the labels."""
    if label is None:
        return len(header) - 1
    if header.count(label) != 1:
        found = f"{header.count(label)} columns" if label in header else "no column"
        raise DataError(
            f"{path} has {found} '{shown(label)}'; the label should be one of {shown(', '.join(header), 300)}"
        )
    return header.index(label)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _whole_numbers(labels: list[str]) -> np.ndarray[tuple[int], np.dtype[np.int64 | np.str_]]:
    """Labels as whole numbers if all of them are, so that they are sorted as such; else as texts."""
    try:
        return np.array([int(label) for label in labels], np.int64)
    except (ValueError, OverflowError):
        return np.array(labels, np.str_)
