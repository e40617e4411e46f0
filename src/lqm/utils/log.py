"""Lines for the user."""

import contextlib
import sys

from lqm.utils.names import printable


def warn(message: str) -> None:
    """One line about something that the user should know."""
    say(f"lqm: {printable(message)}")


def say(line: str) -> None:
    """One line on standard error; where that is closed or its disk is full, work goes on without it."""
    if sys.stderr is not None:  # print would take standard output instead
        with contextlib.suppress(OSError, ValueError):
            print(line, file=sys.stderr, flush=True)
