"""Memory that is kept for the next step instead of being handed back to the system after each one."""

import ctypes
import sys
from collections.abc import Callable

_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_THRESHOLD = -1, -2, -3
# glibc takes a threshold of at most 32 MiB on some versions, and any on others.
_LARGEST = (2**30, 2**25)


def tune_allocator() -> bool:
    """Let this process keep the memory that it frees; whether that worked.

    glibc hands every large block back to the kernel, which clears its pages before it lends them again: half
    of the time of a network's forward pass on a CPU. The command line does this at its start. In a program of
    yours call it once, before the first tensor is made. Where the C library is not glibc nothing happens.

    Example:
        >>> tune_allocator() in (True, False)
        True
    """
    mallopt = _glibc("mallopt")
    if mallopt is None:
        return False
    settings = [(_M_TRIM_THRESHOLD, 2**31 - 1), (_M_TOP_PAD, 2**28)]
    kept = any(mallopt(_M_MMAP_THRESHOLD, size) for size in _LARGEST)
    return kept and all(mallopt(name, value) for name, value in settings)


def release_memory() -> None:
    """Hand what is free back to the system, so that its counts are of what is used; glibc only."""
    if malloc_trim := _glibc("malloc_trim"):
        malloc_trim(0)


def _glibc(name: str) -> Callable[..., int] | None:
    """A function of the C library, if that is glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):
        return None
    return found
