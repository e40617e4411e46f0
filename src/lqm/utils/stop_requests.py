"""What a command that is asked to stop can say: whether that was answered, and whether anything is kept."""

import contextlib
import os

_answered: list[str] = []
_written = False


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


def note_written() -> None:
    """A file is whole: from now on, something is kept."""
    global _written
    _written = True


def what_is_kept() -> str:
    """The end of a sentence that begins with "stopped".

    Example:
        >>> forget(); what_is_kept()
        ' before anything was made'
    """
    if not _written:
        return " before anything was made"
    return "; what was finished is kept, and the same command goes on from there"


def forget() -> None:
    """Wait for another request, of another command."""
    global _written
    _answered.clear()
    _written = False
