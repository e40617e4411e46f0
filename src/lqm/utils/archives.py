"""Zip archives from anywhere: each member is looked at before memory is taken for it.

NumPy's `.npz` and torch's `.pt` are such archives. What a member says of itself is compared with the size of
the file and with the limit of memory first.
"""

import contextlib
import io
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from lqm.utils.limits import require_memory
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

Array = np.ndarray[Any, Any]

# Encryption and deep headers are RuntimeErrors; the others come of archives and headers that are damaged.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    tokenize.TokenError,
    struct.error,
    ArithmeticError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
)
# How NumPy and torch write. The other compressions of zip are decompressed without a bound.
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# The most bytes that one byte of a member can become by deflate, and what a tiny one may have besides.
_DEFLATE_RATIO, _DEFLATE_SLACK = 1032, 1024
# The memory that the entry of a member takes, for each of its bytes in the file.
_ENTRY_RATIO = 16
_CHUNK = 2**18


class DamagedError(ValueError):
    """A member that is not what it says of itself."""


class _CarefulFile(io.FileIO):
    """A file that asks for memory before a piece of it is read, as long as it is to be careful."""

    careful = True

    def read(self, size: int | None = -1, /) -> bytes:
        """As any file."""
        if size is None or size < 0:
            size = max(os.fstat(self.fileno()).st_size - self.tell(), 0)
        if self.careful:
            require_memory(_ENTRY_RATIO * size, f"the list of the arrays of {self.name!s}")
        return super().read(size)


@contextlib.contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """An archive; the list of its members may be as long as the file, and is read at once."""
    with _CarefulFile(os.fspath(path)) as file, zipfile.ZipFile(file) as archive:
        file.careful = False
        yield archive


def member_of(archive: zipfile.ZipFile, name: str, size: int) -> zipfile.ZipInfo:
    """A member of an archive of so many bytes, unless it can't hold what it says."""
    member = archive.getinfo(name)
    if member.flag_bits & 0x1:
        raise DamagedError("it is encrypted")
    if member.compress_type not in _COMPRESSIONS:
        raise DamagedError("its compression is none that NumPy or torch writes")
    packed = min(member.compress_size, size)
    if member.file_size > _DEFLATE_RATIO * packed + _DEFLATE_SLACK:
        raise DamagedError(f"it claims {member.file_size} bytes, more than its {packed} compressed can hold")
    return member


def fill(file: IO[bytes], content: Array, *, last: bool = True) -> None:
    """Read as many bytes as there is room for; the read after the last one makes the checksum be compared.

    Args:
        file: a member of an archive.
        content: what is filled, of bytes.
        last: whether nothing comes after it.
    """
    done = 0
    while done < len(content):
        piece = file.read(min(_CHUNK, len(content) - done))
        if not piece:
            raise EOFError("it is cut off")
        content[done : done + len(piece)] = np.frombuffer(piece, np.uint8)
        done += len(piece)
    if last and file.read(1):
        raise DamagedError("it is longer than it should be")


def cause_of(error: Exception) -> str:
    """Why an archive can't be read, for a sentence."""
    return shown(reason(error))
