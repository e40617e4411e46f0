"""Writing files so that a crash, a kill or a full disk never leaves a half-written one."""

import contextlib
import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from lqm.utils.errors import ArtifactError
from lqm.utils.limits import require_memory
from lqm.utils.locks import hold, remove_if_abandoned
from lqm.utils.stop_requests import note_written

# What a temporary name has of that of its file; a name may have 255 bytes.
_LETTERS = 40
_POLL = 0.001
# The memory of a line besides its letters.
_LINE = 96
# Folders that can't be flushed, or not by us; anything else is a fault of the disk.
_NO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF, errno.EACCES, errno.EPERM)


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, flush it to the disk, and rename it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path.parent, path.name) as (temporary, file):
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ArtifactError(
            f"{path} could not be written: {error.strerror or error}. "
            "What was saved before is intact; make room or choose another folder."
        ) from error


@contextlib.contextmanager
def temporary_file(folder: Path, name: str) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file of the caller's own, to be renamed; removed if it is still there at the end.

    Nobody else has its name, be it a thread or a container with the same process number, and its lock is
    held, so that it is not taken for one that a killed process left.
    """
    path, descriptor = _new_file(folder, name)
    try:
        with open(descriptor, "wb") as file:
            yield path, file
        note_written()
    finally:
        with contextlib.suppress(OSError):  # what went wrong before is on its way to the user
            path.unlink(missing_ok=True)


def read_whole(path: Path, *, copies: int = 1, first: int | None = None) -> bytes:
    """The bytes of a regular file, unless they are too many; OSError if it is something else.

    Args:
        path: the file.
        copies: how many times as much memory as the file has bytes the reading takes.
        first: read so many bytes at most; all if not given.
    """
    with open_regular(path) as file:
        wanted = size_of(file) if first is None else min(first, size_of(file))
        require_memory(copies * wanted, f"the content of {path}")
        return file.read(wanted)


def lines_of(path: Path) -> list[str]:
    """The lines of a text from someone else, without what is no UTF-8; not if they take too much memory."""
    content = read_whole(path).replace(b"\r\n", b"\n")
    require_memory(len(content) + _LINE * content.count(b"\n"), f"the lines of {path}")
    return content.decode("utf-8", "replace").split("\n")


def size_of(file: BinaryIO) -> int:
    """How many bytes an opened file has."""
    return os.fstat(file.fileno()).st_size


def open_regular(path: Path) -> BufferedReader:
    """Open a file to read; OSError, not a wait without end, if it is a pipe or a device."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return open(descriptor, "rb")


def file_hash(path: Path) -> str:
    """The SHA-256 of a regular file."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def short_hash(content: bytes) -> str:
    """What the name of a file carries of its content: the first half of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


def is_temporary(path: Path) -> bool:
    """Whether a file is one that is being written, or what a killed process left of it."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def remove_temporaries(folder: Path) -> None:
    """Clear away what killed processes left; what is being written stays."""
    for path in folder.glob(".*.tmp"):
        remove_if_abandoned(path)


def _new_file(folder: Path, name: str) -> tuple[Path, int]:
    while True:
        path = folder / f".{name[:_LETTERS]}.{os.urandom(8).hex()}.tmp"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        with contextlib.suppress(OSError):  # without locks only its age tells whether it was left
            while not hold(descriptor):
                time.sleep(_POLL)
        # Before it was locked, somebody may have taken it for one that was left.
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno not in _NO_FLUSH:
            raise
