"""Logs of a run: one JSON object a line, each with a checksum of its own."""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from lqm.utils.errors import ArtifactError
from lqm.utils.files import open_regular
from lqm.utils.limits import require_memory
from lqm.utils.log import warn
from lqm.utils.sentences import counted

Record = dict[str, Any]

CHECKSUM = "checksum"
# More than any line of metrics or of an evaluation takes.
_LINE_BYTES = 65_536
# What the records of a file take, for each of its bytes.
_MEMORY = 8
_CHECKED = re.compile(rb', "checksum": "([0-9a-f]{16})"\}\n\Z')
# What a checksum looks like after its name was damaged; lines of earlier versions end in a number.
_SPOILED = re.compile(rb'"[^"]{16}"\}\n\Z')


class Line(NamedTuple):
    """A line of a log; `record` is None if it is damaged, `torn` if it is the last and was not finished."""

    number: int
    content: bytes
    record: Record | None
    torn: bool = False


def append_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """Add records at the end of a log; they are on the disk when this returns.

    Raises:
        ArtifactError: when they could not be written; the log is as it was.
    """
    content = b"".join(map(_line_of, records))
    try:
        with _to_append(path) as file:
            before = os.fstat(file.fileno()).st_size
            try:
                written = 0
                while written < len(content):
                    written += file.write(content[written:])
                os.fsync(file.fileno())
            except BaseException:
                with contextlib.suppress(OSError):  # the next reader drops a line that is torn
                    os.truncate(file.fileno(), before)
                raise
    except OSError as error:
        raise ArtifactError(f"{path} could not be written: {error.strerror}") from error


def read_log(path: Path, counter: str | None = "step") -> list[Line]:
    """Every line of a log that is not empty, if there is one.

    Args:
        path: of the log.
        counter: the field of every record that holds a whole number, if there is one.

    Raises:
        ArtifactError: when it can't be read.
        DataError: when it is too large.
    """
    try:
        with open_regular(path) as file:
            require_memory(_MEMORY * os.fstat(file.fileno()).st_size, str(path))
            return list(_lines(file, counter))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ArtifactError(f"{path} can't be read ({error.strerror}); look at the disk") from error


def read_lines(path: Path, counter: str | None = "step") -> list[Record]:
    """The records of a log; damaged lines are named and left out, and an unfinished last one too."""
    lines = read_log(path, counter)
    warn_of_damage(path, lines)
    return [line.record for line in lines if line.record is not None]


def warn_of_damage(path: Path, lines: Sequence[Line]) -> None:
    """Name the damaged lines of a log, if there are any."""
    damaged = [line.number for line in lines if line.record is None and not line.torn]
    if damaged:
        shown = ", ".join(map(str, damaged[:5])) + ", ..." * (len(damaged) > 5)
        what = counted(len(damaged), "damaged line is", "damaged lines are")
        warn(f"{path}: {what} left out (line {shown}); the others are used")


def last_line(path: Path) -> Record | None:
    """The last whole record of a log, if there is one."""
    try:
        with open_regular(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LINE_BYTES))
            found = [line.record for line in _lines(file, "step") if line.record is not None]
    except OSError:
        return None
    return found[-1] if found else None


def _to_append(path: Path) -> BinaryIO:
    """The log itself, to write at its end: through a link or into a pipe nothing is written."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return open(descriptor, "ab", buffering=0)


def _lines(file: BinaryIO, counter: str | None) -> Iterator[Line]:
    number = 0
    while content := file.readline(_LINE_BYTES):
        number += 1
        whole = content.endswith(b"\n")
        if not whole and len(content) == _LINE_BYTES:
            while (rest := file.readline(_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield Line(number, b"", None, torn=not rest)
        elif content.strip():
            yield Line(number, content, _record_of(content, counter) if whole else None, torn=not whole)


def _line_of(record: Mapping[str, Any]) -> bytes:
    content = json.dumps({name: value for name, value in record.items() if name != CHECKSUM}).encode()
    return content[:-1] + f', "{CHECKSUM}": "{_checksum(content)}"}}\n'.encode()


def _record_of(content: bytes, counter: str | None) -> Record | None:
    """The record of a line without its checksum, if it has one that is right or none (earlier versions)."""
    checked = _CHECKED.search(content)
    bare = content[: checked.start()] + b"}" if checked else content
    if _checksum(bare) != checked[1].decode() if checked else _SPOILED.search(content):
        return None
    try:
        record = json.loads(bare)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or counter is None:
        return record if isinstance(record, dict) else None
    count = record.get(counter)
    return record if type(count) is int and 0 <= count < 2**53 else None


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
