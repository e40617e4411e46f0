"""Arrays become a table: features and labels are checked, classes named, and a test set held out."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from lqm.methods.splits import held_out
from lqm.tabular.sources.source import Rows, TableSource, no_rows
from lqm.utils.errors import DataError
from lqm.utils.settings import check

Array = NDArray[Any]
DEFAULT_TEST_FRACTION = 0.2
_Fraction = Annotated[float, Field(ge=0, lt=1, description="at least 0 and below 1, such as 0.2")]
# Whole numbers that float32 has all of.
_SMALL = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16, np.float32)


def from_arrays(
    X: Any,  # noqa: N803
    y: Any,
    *,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    test: tuple[Any, Any] | None = None,
    test_fraction: float = DEFAULT_TEST_FRACTION,
    name: str = "table",
) -> TableSource:
    """A feature matrix, such as a table or embeddings, with its labels, as a source to condense.

    Args:
        X: numbers, [N, F]: anything that NumPy makes an array of.
        y: the class of each row, [N]: whole numbers or strings.
        class_names: what the classes are called, in the order of the sorted labels; else the labels as text.
        feature_names: what the columns are called; else those of a pandas frame, or `x0`, `x1` and so on.
        test: features and labels to evaluate by.
        test_fraction: the share of each class to hold out if there is no `test`; 0 for none, so that the set
            can't be evaluated.
        name: of the source.

    Raises:
        DataError: when the features or the labels can't be used; the message names the row and column.
        ConfigError: when an option can't be used.

    Example:
        >>> import numpy as np
        >>> rows = np.arange(12.0).reshape(6, 2)
        >>> from_arrays(rows, ["no", "yes"] * 3, test_fraction=0.4).class_names
        ('no', 'yes')
    """
    check("test_fraction", test_fraction, _Fraction)
    columns = feature_names if feature_names is not None else getattr(X, "columns", None)
    features = numbers_of(X, f"X of '{name}'", columns)
    width = features.shape[1]
    columns = tuple(map(str, columns)) if columns is not None else tuple(f"x{i}" for i in range(width))
    if len(columns) != width:
        raise DataError(f"'{name}' has {len(columns)} feature names and {width} features; give one each")
    labels = _labels(y, len(features), f"y of '{name}'")
    known, places = np.unique(labels, return_inverse=True)
    if len(known) < 2:
        raise DataError(f"'{name}' has only one class, '{known[0]}'; it should have two or more")
    names = tuple(map(str, known if class_names is None else class_names))
    if len(names) != len(known):
        raise DataError(f"'{name}' has {len(names)} class names and {len(known)} classes; give one each")
    whole = Rows(torch.from_numpy(features), torch.from_numpy(places.astype(np.int64)))
    if test is not None:
        train, held = whole, _test_rows(test, known, columns, name)
    elif test_fraction:
        train, held = _split(whole, names, test_fraction, name)
    else:
        train, held = whole, no_rows(width)
    return TableSource(name, train, held, names, columns)


def numbers_of(values: Any, place: str, columns: Sequence[Any] | None = None) -> Array:
    """Finite floats, [N, F], float32 or float64; DataError with the first cell that is none."""
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{place} has shape {list(array.shape)}; it should be [N, F], a row a record and a column a "
            "feature, none of them 0"
        )
    if array.dtype.kind not in "biuf":
        array = _converted(array, place, columns)
    array = array.astype(np.float32 if array.dtype.type in _SMALL else np.float64)
    if not (finite := np.isfinite(array)).all():
        row, column = np.argwhere(~finite)[0].tolist()
        named = f"'{columns[column]}'" if columns is not None else str(column)
        raise DataError(
            f"{place} has {array[row, column]} at row {row}, column {named}; fill it in, or leave the row out"
        )
    return np.ascontiguousarray(array)


def _converted(array: Array, place: str, columns: Sequence[Any] | None) -> Array:
    """Numbers out of objects; DataError with the first cell that is no number."""
    for (row, column), cell in np.ndenumerate(array):
        if not isinstance(cell, int | float | np.bool_ | np.integer | np.floating):
            named = f"'{columns[column]}'" if columns is not None else str(column)
            raise DataError(
                f"{place} has {str(cell)[:40]!r} at row {row}, column {named}, which is no number; "
                "encode it as numbers, or leave the column out"
            )
    return array.astype(np.float64)


def _labels(values: Any, count: int, place: str) -> Array:
    """Labels that can be sorted, [N]: whole numbers, truth values or texts."""
    array = np.asarray(values)
    if array.shape == (count, 1):
        array = array[:, 0]
    if array.shape != (count,):
        raise DataError(f"{place} has shape {list(array.shape)}; it should be [{count}], a label a row")
    if array.dtype.kind == "O":
        whole = all(isinstance(label, int | np.integer) for label in array)
        if not whole and not all(isinstance(label, str) for label in array):
            raise DataError(f"{place} has labels that are neither all whole numbers nor all texts; mend them")
        array = array.astype(np.int64 if whole else np.str_)
    if array.dtype.kind == "f":
        if not (np.isfinite(array).all() and (array % 1 == 0).all() and np.abs(array).max() <= 2.0**53):
            raise DataError(
                f"{place} has labels that are not whole numbers; a class should be a whole number or a text"
            )
        array = array.astype(np.int64)
    if array.dtype.kind not in "biuU":
        raise DataError(f"{place} has type {array.dtype}; a class should be a whole number or a text")
    return array


def _test_rows(test: tuple[Any, Any], known: Array, columns: tuple[str, ...], name: str) -> Rows:
    features = numbers_of(test[0], f"the test features of '{name}'", columns)
    if features.shape[1] != len(columns):
        raise DataError(f"'{name}' has {len(columns)} features and {features.shape[1]} in its test rows")
    labels = _labels(test[1], len(features), f"the test labels of '{name}'")
    if labels.dtype.kind == "U" and known.dtype.kind != "U":
        known = known.astype(np.str_)
    if not (there := np.isin(labels, known)).all():
        raise DataError(
            f"the test rows of '{name}' have the label '{labels[~there][0]}', which no training row has; "
            "add training rows of it, or leave its test rows out"
        )
    return Rows(torch.from_numpy(features), torch.from_numpy(np.searchsorted(known, labels)))


def _split(rows: Rows, names: tuple[str, ...], share: float, name: str) -> tuple[Rows, Rows]:
    counts = rows.labels.bincount(minlength=len(names)).tolist()
    for class_name, count in zip(names, counts, strict=True):
        if count < 2:
            raise DataError(
                f"class '{class_name}' of '{name}' has {count} row, so none can be held out for testing; "
                "add rows to it, or leave the class out"
            )
    chosen = held_out(rows.labels, len(names), share, "test split")
    return rows.at(~chosen), rows.at(chosen)
