"""Lines for the user."""

import contextlib
import sys
from typing import TextIO

from lqm.utils.terminal import visible


def warn(message: str) -> None:
    """One line about something that the user should know."""
    write_line(f"lqm: {message}", sys.stderr)


def say(message: str) -> None:
    """One line of what was asked for, on standard output."""
    print(visible(message))


def write_line(line: str, stream: TextIO | None) -> None:
    """One line beside the work; where it can't be written, as to a full disk, the work goes on."""
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            print(visible(line), file=stream, flush=True)
