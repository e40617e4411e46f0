"""Whatever a program hands over as data becomes a source: a name stays one, arrays become images or rows."""

from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any

import numpy as np

from lqm.condensed import CondensedImages, CondensedSet
from lqm.graphs.sources.pyg import is_pyg
from lqm.images.sources import load_source
from lqm.images.sources.frame import is_frame
from lqm.images.sources.handed import as_given, is_array
from lqm.tabular.sources.items import holds_vectors, vectors_of
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.given import GivenData
from lqm.utils.terminal import shown

Options = dict[str, Any]


def given_source(
    source: Any, y: object = None, options: Mapping[str, Any] | None = None
) -> tuple[Any, Options]:
    """The source of a request, and its options but for those that are in the source now.

    A name, a path and a source stay what they are. Rows become a table. All else is read when the request
    has been checked, as images or as a graph.

    Args:
        source: what a program gave as data.
        y: the labels of arrays.
        options: the other ones of the request, and `test` and `class_names`.

    Raises:
        LqmError: when it is no data, or labels are missing or too many.
    """
    words = dict(options or {})
    test, class_names = words.pop("test", None), words.pop("class_names", None)
    if is_frame(source) and y is None and words.get("label") is not None:
        label = words.pop("label")
        source, y = _without_labels(source, label)
        test = _without_labels(test, label) if is_frame(test) else test
    parts = {"y": y, "test": test, "class_names": class_names}
    given = [name for name, value in parts.items() if value is not None]
    if _is_source(source):
        if given:
            name = getattr(source, "name", source)
            raise ConfigError(f"'{name}' has all of its own; leave {', '.join(given)} out")
        return source, words
    if is_pyg(source):
        if wrong := [name for name in given if name != "class_names"]:
            raise ConfigError(f"a graph has labels and a split of its own; leave {', '.join(wrong)} out")
        return (GivenData(source, class_names=class_names) if given else source), words
    data = _with_rows(as_given(source, y, test, class_names))
    return _as_table(data, words) if _is_rows(data) else (data, words)


def real_data(
    condensed: CondensedSet,
    source: Any,
    *,
    test: object = None,
    test_fraction: float | None = None,
    show_progress: bool = True,
) -> Any:
    """What a set is compared with: what is given, or else what it was made of, if that was handed over.

    Arrays and datasets are read as they were for the set, with its class names, size and augmentation.

    Raises:
        LqmError: when it is no data.
    """
    options: Options = {} if test_fraction is None else {"test_fraction": test_fraction}
    if source is None:
        if test is not None or options:
            raise ConfigError("test and test_fraction say more of a source; give that too")
        return condensed.real
    if _is_source(source) and options:
        raise ConfigError("test_fraction is for arrays and datasets; leave it out")
    names = None if _is_source(source) else condensed.class_names
    data, _ = given_source(source, None, {"test": test, "class_names": names, **options})
    if not isinstance(data, GivenData) or not isinstance(condensed, CondensedImages):
        return data
    return load_source(
        data,
        size=condensed.images.shape[-1],
        test_fraction=test_fraction,
        augmentation=condensed.manifest["source"].get("augmentation"),
        show_progress=show_progress,
    )


def _is_source(source: object) -> bool:
    """Whether something is a name, a path, or a source of any kind of data."""
    return isinstance(source, str | PathLike) or hasattr(source, "for_validation")


def _with_rows(data: GivenData) -> GivenData:
    """A dataset of vectors as its features and labels; all else as it is."""
    if not holds_vectors(data.records):
        return data
    features, labels = vectors_of(data.records, "the training set")
    test = vectors_of(data.test, "the test set") if holds_vectors(data.test) else data.test
    names = data.class_names or getattr(data.records, "classes", None)
    return GivenData(features, labels, test, None if names is None else tuple(names))


def _is_rows(data: GivenData) -> bool:
    """Whether data are features, a row a record."""
    if data.labels is None:
        return False
    records: Any = data.records
    return is_frame(records) or (records if is_array(records) else np.asarray(records)).ndim == 2


def _without_labels(frame: Any, label: str) -> tuple[Any, Any]:
    """The features of a frame that is a table, and its labels."""
    if label not in frame.columns:
        columns = ", ".join(map(str, frame.columns))
        raise DataError(f"there is no column '{label}' in the frame; its columns are {shown(columns, 300)}")
    return frame.drop(columns=label), frame[label]


def _as_table(data: GivenData, options: Options) -> tuple[Any, Options]:
    # The kind of data that most programs do not have is imported where it is met.
    from_arrays = import_module("lqm.tabular").from_arrays
    used = {"test_fraction": options.pop("test_fraction", None), "test": data.test}
    words = {name: value for name, value in used.items() if value is not None}
    return from_arrays(data.records, data.labels, class_names=data.class_names, **words), options
