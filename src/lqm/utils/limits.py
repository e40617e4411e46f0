"""How much memory the content of a file may take: asked for before it is taken.

A small file can claim to hold a large array, so no reader may believe it without a look at the limit.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import psutil

from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import shown_value

VARIABLE = "LQM_MAX_MEMORY"
_REMEDY = f"raise it by --max-memory or {VARIABLE} if you trust the file and the machine has the memory"
_DEFAULT = 8 * 2**30
# What the name, the counts and the lists of the members of one class take.
CLASS_BYTES = 4096
# What reading one image takes at most for each of its pixels, with four being read at a time.
_BYTES_A_PIXEL = 48
# Records that take more than this part of the limit stay in a file: a run needs memory beside them.
_RESIDENT_PART = 4
_UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)

_chosen: ContextVar[int | None] = ContextVar("max_memory", default=None)
_work: ContextVar[bool] = ContextVar("whole_work", default=False)


def parse_size(text: str | int, name: str = "max_memory") -> int:
    """A number of bytes, from a number or from a text with a unit of 1,024; `name` is what it is for.

    Example:
        >>> parse_size("16GB") == parse_size("16 GiB") == 16 * 2**30
        True
    """
    found = _SIZE.fullmatch(str(text).strip())
    size = int(float(found[1]) * _UNITS[found[2].lower()]) if found and len(found[1]) < 20 else 0
    if isinstance(text, bool) or not 1 <= size < 2**63:
        raise ConfigError(
            f"{name} = {shown_value(text)} can't be used: it should be an amount of memory such as 8GB"
        )
    return size


def size_text(size: int) -> str:
    """A number of bytes, as people read it.

    Example:
        >>> size_text(3 * 2**30 // 2), size_text(10**40)
        ('1.5 GiB', 'more than 1,000 TiB')
    """
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size = size // 1024 if size >= 2**60 else size / 1024  # type: ignore[assignment]
    return "more than 1,000 TiB"


@contextmanager
def limited_to(size: str | int | None, *, work: bool = False) -> Iterator[None]:
    """Work with another limit, unless it is None: of what files hold, and of all the `work` if so said."""
    if size is None:
        yield
        return
    limit, whole = _chosen.set(parse_size(size)), _work.set(work)
    try:
        yield
    finally:
        _chosen.reset(limit)
        _work.reset(whole)


def max_memory() -> int:
    """The limit in bytes: that of `limited_to`, else LQM_MAX_MEMORY, else 8 GiB or 3/4 of the memory."""
    if (chosen := _chosen.get()) is not None:
        return chosen
    if text := os.environ.get(VARIABLE):
        return parse_size(text, VARIABLE)
    return min(_DEFAULT, psutil.virtual_memory().total * 3 // 4)


def stays_in_file(size: int) -> bool:
    """Whether records of so many bytes are better read from a file, a few at a time, than held in memory."""
    return size > max_memory() // _RESIDENT_PART


def working_memory() -> int | None:
    """What a limit of the whole work leaves beside what the process has now; None if there is none."""
    if not _work.get():
        return None
    return max_memory() - int(psutil.Process().memory_info().rss)


def require_room(size: int, remedy: str) -> None:
    """Refuse work whose smallest part takes more than a limit that was chosen leaves.

    Raises:
        ConfigError: when it does.
    """
    room = working_memory()
    if room is not None and size > room:
        limit = max_memory()
        raise ConfigError(
            f"the smallest part of the work takes {size_text(size)} beside the {size_text(limit - room)} "
            f"that the process has, above the limit of {size_text(limit)}; raise --max-memory, or {remedy}"
        )


def max_pixels() -> int:
    """How many pixels one image may have."""
    return max_memory() // _BYTES_A_PIXEL


def require_memory(size: int, what: str) -> None:
    """Refuse to take so many bytes if they are above the limit.

    Args:
        size: how many; any whole number.
        what: what would take them, with the file that it comes from, such as "'x' of graph.npz".

    Raises:
        DataError: when they are too many.
    """
    if size > (limit := max_memory()):
        raise DataError(
            f"{what} would take {size_text(size)} of memory, above the limit of {size_text(limit)}; {_REMEDY}"
        )
