"""T in S* = argmin D(phi(T), phi(S)), of tables: a name, a path or arrays become rows to condense."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from lqm.tabular.sources.arrays import DEFAULT_TEST_FRACTION, from_arrays
from lqm.tabular.sources.builtin import TABLES
from lqm.tabular.sources.csv_file import read_csv
from lqm.tabular.sources.found import FoundTable
from lqm.tabular.sources.npz import holds_table as npz_holds_table
from lqm.tabular.sources.npz import read_npz
from lqm.tabular.sources.source import Rows, TableSource
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose

__all__ = ["TABLES", "Rows", "TableSource", "from_arrays", "is_table", "load_table"]

_KINDS = "a .csv with a header, a .npz with X and y, or a .parquet of numbers"


def load_table(
    source: str | Path | TableSource,
    *,
    label: str | None = None,
    test_fraction: float | None = None,
    validation: bool = False,
) -> TableSource:
    """The table called by a name, or that a path leads to, or the source itself.

    Args:
        source: a name in `TABLES`, else the path of a `.csv`, of a `.npz` with `X` and `y` (and `X_test` and
            `y_test`), or of a `.parquet` with columns of numbers; or a source.
        label: the column of the labels of a `.csv` or `.parquet`; the last one if not given.
        test_fraction: the share of each class to hold out where there is no test set, 0.2 if not given.
        validation: whether to leave the test rows out, and to hold a fifth of the training rows out in their
            place, by which settings can be chosen; see `TableSource.for_validation`.

    Raises:
        ConfigError: when there is no such source, or an option can't be used.
        DataError: when what is there can't be used.
    """
    given: dict[str, Any] = {"label": label, "test_fraction": test_fraction}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(source, TableSource):
        if given:
            raise ConfigError(f"'{source.name}' is a source already; leave {', '.join(given)} out")
        whole = source
    elif isinstance(source, str) and source in TABLES:
        if label is not None:
            raise ConfigError(f"'{source}' has labels already; leave label out")
        share = DEFAULT_TEST_FRACTION if test_fraction is None else test_fraction
        whole = replace(TABLES[source](share), origin={"source": source, **given})
    else:
        path = _existing(source)
        whole = replace(_load(path, label, test_fraction), origin={"source": str(path.resolve()), **given})
    return whole.for_validation() if validation else whole


def is_table(source: object, data_dir: str | Path | None = None) -> bool:
    """Whether `load_table` reads this source: by its name, its suffix, or the header of a file.

    Raises:
        DataError: when it is a `.npz` that can't be opened.
    """
    if isinstance(source, TableSource) or (isinstance(source, str) and source in TABLES):
        return True
    if not isinstance(source, str | Path):
        return False
    path = Path(source).expanduser()
    try:
        if not (str(source) and path.is_file()):
            return False
        if path.suffix == ".npz":
            return npz_holds_table(path)
        if path.suffix == ".parquet":
            from lqm.tabular.sources.parquet import holds_table

            return holds_table(path)
        return path.suffix == ".csv"
    except OSError:
        return False


def _existing(source: object) -> Path:
    if not isinstance(source, str | Path):
        raise ConfigError(
            f"a {type(source).__name__} is no table; give a name, a path or an lqm.TableSource, which arrays "
            "become by lqm.tabular.from_arrays"
        )
    path = Path(source).expanduser()
    if str(source) and path.exists():
        return path
    if isinstance(source, Path):
        raise DataError(f"there is no {source}; it should be {_KINDS}")
    try:
        choose(source, TABLES, "table")
    except ConfigError as error:
        raise ConfigError(f"{error}, or the path of {_KINDS}") from None
    return path


def _load(path: Path, label: str | None, test_fraction: float | None) -> TableSource:
    try:
        found = _read(path, label)
    except OSError as error:
        raise DataError(f"{error.filename or path} can't be read: {error.strerror or error}") from error
    if found.test is not None and test_fraction is not None:
        raise ConfigError(f"'{path.stem}' has a test set of its own; leave test_fraction out")
    return from_arrays(
        found.features,
        found.labels,
        class_names=found.class_names,
        feature_names=found.feature_names,
        test=found.test,
        test_fraction=DEFAULT_TEST_FRACTION if test_fraction is None else test_fraction,
        name=path.stem,
    )


def _read(path: Path, label: str | None) -> FoundTable:
    if path.suffix == ".csv":
        return read_csv(path, label)
    if path.suffix == ".parquet":
        from lqm.tabular.sources.parquet import read_parquet

        return read_parquet(path, label)
    if path.suffix != ".npz":
        raise DataError(f"{path} can't be read as a table; it should be {_KINDS}")
    if label is not None:
        raise ConfigError(f"{path} has no columns with names; leave label out, its labels are in y")
    return read_npz(path)
