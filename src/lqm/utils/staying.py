"""Files that lie in a folder indeed, and are not led out of it by a link."""

import os
from collections.abc import Iterable
from pathlib import Path

from lqm.utils.errors import DataError


def stays(path: Path, root: str | Path) -> bool:
    """Whether a path lies below a folder also after all links were followed.

    Example:
        >>> stays(Path("/"), "/"), stays(Path("/etc"), "/tmp")
        (True, False)
    """
    real = os.path.realpath(root)
    return os.path.commonpath([os.path.realpath(path), real]) == real


def require_inside(paths: Iterable[Path], root: Path) -> None:
    """Refuse paths that links lead out of a folder, which may have come from someone else.

    Raises:
        DataError: when one does; none of them was opened.
    """
    for path in paths:
        if not stays(path, root):
            raise DataError(
                f"{path} is a link that leads out of {root}, and is not followed; copy what it leads to into "
                "the folder if it belongs there"
            )
