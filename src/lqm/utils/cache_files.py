"""The files of the cache: what is there, what has to go beyond its limit, and what the user wants gone.

Only plain files of our names in our folders are counted or deleted: no link, nothing of another program's. A
file that a process is reading stays whole for it after it is deleted.
"""

import contextlib
import os
import re
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from lqm.utils.errors import ConfigError
from lqm.utils.limits import parse_size

VARIABLE = "LQM_CACHE_LIMIT"
KINDS = ("images", "graphs", "scores", "overlaps", "condensed-again", "places")
# Where data stand can't be found out again, and takes no room.
_MADE_AGAIN = KINDS[:-1]
_DEFAULT = "20GB"
_OURS = re.compile(r"[0-9a-f]{32}\.[0-9a-f]{32}\.safetensors|[0-9a-f]{64}\.json")
_ABANDONED = re.compile(r"\..+\.tmp")
# What was written or used within so many seconds is not made room with, nor taken for abandoned.
_RECENT = 600.0
_UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Entry(NamedTuple):
    """A file of the cache; `used` is when it was last read or written, in seconds of the system's clock."""

    kind: str
    name: str
    size: int
    used: float


def cache_limit() -> int:
    """How many bytes the cache may take: LQM_CACHE_LIMIT, else 20 GiB."""
    return parse_size(os.environ.get(VARIABLE) or _DEFAULT, VARIABLE)


def cache_entries(root: Path, kinds: Collection[str] = KINDS) -> list[Entry]:
    """The files of some kinds in a cache, the one that was used longest ago first."""
    found = [entry for kind in kinds for entry in _entries(root, kind) if _OURS.fullmatch(entry.name)]
    return sorted(found, key=lambda entry: entry.used)


def mark_used(path: Path) -> None:
    """Note that a file was used just now, so that others go before it."""
    with contextlib.suppress(OSError):
        os.utime(path, follow_symlinks=False)


def make_room(root: Path) -> int:
    """Delete what was used longest ago until a cache is within its limit; gives the bytes."""
    entries = cache_entries(root, _MADE_AGAIN)
    above = sum(entry.size for entry in entries) - cache_limit()
    if above <= 0:
        return 0
    doomed, freed = [], 0
    for entry in entries:
        if freed >= above or entry.used > time.time() - _RECENT:
            break
        doomed.append(entry)
        freed += entry.size
    return _delete(root, doomed)


def clean_cache(root: Path, kinds: Collection[str] = KINDS, older_than: float = 0.0) -> tuple[int, int]:
    """Delete files of some kinds that were not used for so many seconds; gives how many, and their bytes."""
    now = time.time()
    doomed = [entry for entry in cache_entries(root, kinds) if now - entry.used >= older_than]
    abandoned = [
        entry
        for kind in kinds
        for entry in _entries(root, kind)
        if _ABANDONED.fullmatch(entry.name) and now - entry.used >= max(older_than, _RECENT)
    ]
    return len(doomed), _delete(root, [*doomed, *abandoned])


def parse_age(text: str) -> float:
    """Seconds, of a text such as 30d.

    Raises:
        ConfigError: for another text.

    Example:
        >>> parse_age("2h"), parse_age("30 d")
        (7200.0, 2592000.0)
    """
    found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)\s*([a-z]+)", text.strip().lower())
    if not found or found[2] not in _UNITS:
        raise ConfigError(f"'{text}' is no age; it should be like 30d, 12h or 90min")
    return float(found[1]) * _UNITS[found[2]]


def _entries(root: Path, kind: str) -> Iterator[Entry]:
    """The plain files in the folder of a kind."""
    with _folder(root / kind) as folder:
        if folder is None:
            return
        with os.scandir(folder) as files:
            for file in files:
                with contextlib.suppress(OSError):
                    if file.is_file(follow_symlinks=False):
                        status = file.stat(follow_symlinks=False)
                        yield Entry(kind, file.name, status.st_size, max(status.st_mtime, status.st_atime))


def _delete(root: Path, entries: Collection[Entry]) -> int:
    freed = 0
    for kind in KINDS:
        with _folder(root / kind) as folder:
            for entry in entries if folder is not None else ():
                if entry.kind == kind:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.name, dir_fd=folder)
                        freed += entry.size
    return freed


@contextlib.contextmanager
def _folder(path: Path) -> Iterator[int | None]:
    """An open folder of the cache; None if there is none, or it is a link."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
