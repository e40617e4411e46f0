"""Lines for the user."""

import sys


def warn(message: str) -> None:
    """One line about something that the user should know."""
    print(f"lqm: {message}", file=sys.stderr, flush=True)
