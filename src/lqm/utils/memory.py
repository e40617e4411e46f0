"""Too little memory, whichever library runs out of it first: one sentence of what it was for."""

import errno
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from lqm.utils.errors import OutOfMemoryError
from lqm.utils.sentences import first_line

# What torch, CUDA, the C++ library, the loader of shared libraries and threads say of it.
_SIGNS = (
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "out of memory",
    "bad_alloc",
    "failed to map segment",
    "can't start new thread",
)
# Letters of what a library says that are worth repeating.
_LONGEST = 120


def memory_for_reading(source: object) -> AbstractContextManager[None]:
    """The same of reading a source."""
    named = source if isinstance(source, str | Path) else type(source).__name__
    return memory_for(f"reading '{named}'", "give a --size for images, or fewer records")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that there is too little memory.

    Example:
        >>> is_out_of_memory(RuntimeError("std::bad_alloc")), is_out_of_memory(RuntimeError("a memory"))
        (True, False)
    """
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError | OSError | ImportError) and any(sign in text for sign in _SIGNS)


@contextmanager
def memory_for(what: str, remedy: str) -> Iterator[None]:
    """Say what there was too little memory for, and what would need less of it.

    Raises:
        OutOfMemoryError: in place of whatever was raised for want of memory inside the block.
    """
    try:
        yield
    except OutOfMemoryError:
        raise
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        said = first_line(error)[:_LONGEST]
        raise OutOfMemoryError(
            f"there is not enough memory for {what} ({said}); {remedy}, or use a machine with more"
        ) from error
