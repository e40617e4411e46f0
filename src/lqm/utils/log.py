"""Lines for the user."""

import sys

from lqm.utils.names import printable


def warn(message: str) -> None:
    """One line about something that the user should know."""
    print(f"lqm: {printable(message)}", file=sys.stderr, flush=True)
