"""The memory that a piece of work takes at its peak, by what the system counts."""

import contextlib
from pathlib import Path

import psutil


@contextlib.contextmanager
def memory_grows_by_at_most(size):
    """Fail when the process has so many bytes more at any moment of the block than before; Linux only."""
    before = psutil.Process().memory_info().rss
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here on
    except OSError:
        yield
        return
    yield
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    assert peak - before <= size, f"{peak - before:,} bytes"
