"""Lines for the user."""

import contextlib
import os
import sys
import textwrap
from typing import TextIO

from lqm.utils.terminal import visible

_NARROWEST = 20


def warn(message: str) -> None:
    """One line about something that the user should know."""
    write_line(f"lqm: {message}", sys.stderr, wrapped=True)


def say(message: str) -> None:
    """One line of what was asked for, on standard output."""
    print(visible(message))


def write_line(line: str, stream: TextIO | None, *, wrapped: bool = False) -> None:
    """One line beside the work; where it can't be written, as to a full disk, the work goes on.

    Args:
        line: what to write.
        stream: where.
        wrapped: whether a terminal that is narrower gets several lines, none of which breaks a word.
    """
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            shown = visible(line)
            print(_wrapped(shown, stream) if wrapped else shown, file=stream, flush=True)


def _wrapped(line: str, stream: TextIO) -> str:
    """A line as a terminal shows it without breaking words; as it is where there is no terminal."""
    if not stream.isatty():
        return line
    width = os.get_terminal_size(stream.fileno()).columns
    return textwrap.fill(
        line, max(width, _NARROWEST), subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
