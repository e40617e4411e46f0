"""Whether a request to stop was answered: by whoever can say more than that it was received."""

import contextlib
import os

_answered: list[str] = []


def answer(line: str, *, written: bool = True) -> None:
    """Say at once what becomes of a request; it may be called from a signal handler.

    Args:
        line: what to say.
        written: whether to write it, or only to note that it is shown elsewhere.
    """
    _answered.append(line)
    if written:
        # A handler may run in the middle of a write, and a stream with a buffer refuses a second one.
        with contextlib.suppress(OSError):
            os.write(2, f"lqm: {line}\n".encode())


def answered() -> bool:
    """Whether a request was answered since the last `forget`."""
    return bool(_answered)


def forget() -> None:
    """Wait for another request."""
    _answered.clear()
