"""Sparse matrices by the three arrays that files have of them (CSR), checked before SciPy sees them.

SciPy's own check leaves gaps, and its routines write to wherever a wrong `indptr` leads them.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from lqm.utils.errors import DataError

Array = np.ndarray[Any, Any]

_AGAIN = "fetch or write it again"


class _WrongError(Exception):
    """What is wrong with a matrix."""


def rows_of(data: Any, indices: Any, indptr: Any, shape: Any, *, place: str) -> Any:
    """The csr_array of [rows, columns] whose row i has the entries from indptr[i] to indptr[i + 1].

    Args:
        data: the values of the entries, [E]; numbers.
        indices: their columns, [E], in any order within a row.
        indptr: where each row begins among the entries, and at last their number, [rows + 1].
        shape: the numbers of rows and columns.
        place: where the matrix comes from, for messages.

    Raises:
        DataError: when they are no such matrix.
    """
    try:
        lengths = _lengths(shape)
        values = _numbers(data, "data", "biuf")
        columns, starts = _numbers(indices, "indices", "iu"), _numbers(indptr, "indptr", "iu")
        _check_starts(starts, lengths[0], len(columns), len(values))
        if len(columns) and not (int(columns.min()) >= 0 and int(columns.max()) < lengths[1]):
            raise _WrongError(f"its indices should be from 0 to {lengths[1] - 1}, the last column")
    except _WrongError as error:
        raise DataError(f"{place} is no sparse matrix ({error}); {_AGAIN}") from None
    kind = np.int32 if max(len(columns), *lengths) < 2**31 else np.int64
    pieces = (_writable(values, _usual(values.dtype)), _writable(columns, kind), _writable(starts, kind))
    return csr_array(pieces, shape=lengths)


def _lengths(shape: Any) -> tuple[int, int]:
    values = shape.tolist() if isinstance(shape, np.ndarray) and shape.ndim == 1 else shape
    if not isinstance(values, list | tuple) or len(values) != 2:
        raise _WrongError("its shape should be two numbers, those of rows and columns")
    for length in values:
        if isinstance(length, bool) or not isinstance(length, int | np.integer) or not 0 <= length < 2**63:
            raise _WrongError("its shape should be two whole numbers of at least 0")
    return int(values[0]), int(values[1])


def _numbers(piece: Any, name: str, kinds: str) -> Array:
    if not isinstance(piece, np.ndarray) or piece.ndim != 1:
        raise _WrongError(f"its {name} should be a list of numbers")
    if piece.dtype.kind not in kinds:
        raise _WrongError(f"its {name} have type {piece.dtype} and should be {_KINDS[kinds]}")
    return piece


_KINDS = {"biuf": "numbers", "iu": "whole numbers"}


def _check_starts(starts: Array, rows: int, columns: int, values: int) -> None:
    if len(starts) != rows + 1:
        raise _WrongError(f"its indptr has {len(starts)} numbers and should have {rows + 1} for {rows} rows")
    if columns != values:
        raise _WrongError(f"it has {columns} indices and {values} values")
    if int(starts[0]) != 0 or int(starts[-1]) != columns:
        raise _WrongError(
            f"its indptr goes from {starts[0]} to {starts[-1]} and should go from 0 to {columns}, the number "
            "of entries"
        )
    if (starts[1:] < starts[:-1]).any():
        first = int((starts[1:] < starts[:-1]).argmax())
        raise _WrongError(f"its indptr falls after row {first}, from {starts[first]} to {starts[first + 1]}")


def _usual(kind: np.dtype[Any]) -> np.dtype[Any]:
    """A type that SciPy computes with: that of the data, or float64 for long and float32 for short floats."""
    if kind.kind == "f" and kind.itemsize not in (4, 8):
        return np.dtype(np.float32 if kind.itemsize < 4 else np.float64)
    return kind.newbyteorder("=")


def _writable(piece: Array, kind: Any) -> Array:
    """The piece in memory that SciPy may sort in place."""
    found = np.ascontiguousarray(piece, kind)
    return found if found.flags.writeable else found.copy()
