"""Standard output and standard error of the command line, where either may be closed or its disk full."""

import contextlib
import os
import sys
from typing import Any, TextIO


class Unfailing:
    """A stream whose faults stop nobody: what can't be written is dropped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write what can be written."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what can be flushed."""
        with contextlib.suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unfailing_error() -> TextIO:
    """Standard error, for progress and warnings: without it work goes on."""
    stream: Any = sys.stderr
    if stream is None:
        stream = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (as long as the process)
    return stream if isinstance(stream, Unfailing) else Unfailing(stream)  # type: ignore[return-value]


def steady_streams() -> None:
    """Make the streams of this process safe to write to.

    A closed one is opened as the null device, lest the next file that is opened take its number and get
    what libraries print. Letters that an output can't show are escaped.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr = unfailing_error()


def settle_output() -> bool:
    """Whether standard output takes all; if not it is dropped, lest Python try again at its end."""
    try:
        sys.stdout.flush()
        return True
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return False
