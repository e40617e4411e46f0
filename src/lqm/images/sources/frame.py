"""A pandas frame with the paths of image files and their labels, as images."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lqm.images.sources.classes import as_array, numbered
from lqm.images.sources.folder import Listing, read_listing
from lqm.images.sources.found import Found, Reading
from lqm.utils.errors import DataError
from lqm.utils.given import GivenData
from lqm.utils.names import shown_value
from lqm.utils.terminal import shown

_PATHS = ("path", "paths", "file", "filename", "file_name", "filepath", "file_path", "image", "img")
_LABELS = ("label", "labels", "class", "class_name", "target", "y")


def is_frame(source: object) -> bool:
    """Whether an object is a pandas frame, without importing pandas."""
    return hasattr(source, "columns") and hasattr(source, "iloc")


def read_frame(given: GivenData, reading: Reading) -> Found:
    """The images of the files that a frame names, one a row.

    Raises:
        DataError: when a column is missing, or a row has no file that is there.
    """
    frames = (
        {"training": given.records} if given.test is None else {"training": given.records, "test": given.test}
    )
    rows = [_rows(frame, f"the {part} frame") for part, frame in frames.items()]
    numbers, names = numbered([labels for _, labels in rows], f"'{reading.name}'", given.class_names)
    listed = [
        [*zip(paths, part.tolist(), strict=True)] for (paths, _), part in zip(rows, numbers, strict=True)
    ]
    root = Path(os.path.commonpath([path.parent for part in listed for path, _ in part]))
    return read_listing(Listing(root, listed[0], listed[1] if len(listed) == 2 else None, names), reading)


def _rows(frame: Any, what: str) -> tuple[list[Path], object]:
    if not is_frame(frame):
        raise DataError(f"{what} is a {type(frame).__name__}; give a frame with the same columns")
    columns = [str(column) for column in frame.columns]
    paths, labels = (_column(columns, usual) for usual in (_PATHS, _LABELS))
    if len(columns) == 2 and (paths is None) != (labels is None):
        rest = next(column for column in columns if column not in (paths, labels))
        paths, labels = paths or rest, labels or rest
    if paths is None or labels is None:
        raise DataError(
            f"{what} has the columns {shown(', '.join(columns), 300)}; it should have the paths of images in "
            "'path' and their labels in 'label', or be a table whose column of labels is named, such as "
            "label='target'"
        )
    if len(frame) == 0:
        raise DataError(f"{what} is empty; it should have a row an image")
    return [_file(path, row, what) for row, path in enumerate(as_array(frame[paths], what).tolist())], frame[
        labels
    ]


def _column(columns: Sequence[str], usual: Sequence[str]) -> str | None:
    return next((column for name in usual for column in columns if column.lower() == name), None)


def _file(path: object, row: int, what: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"row {row} of {what} has {shown_value(path)} in place of the path of an image")
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        raise DataError(f"row {row} of {what} names {shown(path)}, which is no file; mend the path")
    return file
