"""Reading regular files, and nothing else: a pipe would wait for ever, a device never ends."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory


def open_regular(path: Path) -> BinaryIO:
    """A file opened for reading; the opened file is asked what it is, so that nothing can change between.

    Raises:
        DataError: when it is a pipe, a socket, a device or a folder.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DataError(f"{path} is no regular file; replace it by a file with the data")
    return os.fdopen(descriptor, "rb")


def size_of(file: BinaryIO) -> int:
    """How many bytes an opened file has."""
    return os.fstat(file.fileno()).st_size


def read_regular(path: Path) -> bytes:
    """All bytes of a file, if they are within the limit of memory."""
    with open_regular(path) as file:
        require_memory(size := size_of(file), f"the content of {path}")
        return file.read(size)


def read_text(path: Path) -> str:
    """The text of a small file, such as a list of names; what is no UTF-8 is replaced."""
    return read_regular(path).decode("utf-8", "replace")
