"""What a process costs: its seconds, and the peak of its memory."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """Seconds, GiB of peak resident memory, and what was printed if that was asked for."""

    seconds: float
    peak: float
    output: str


def run(command: Sequence[str], *, keep_output: bool = False) -> Cost:
    """Run a process to its end; whoever calls should be small, since a process begins at its parent's size.

    What is printed may be kept if it is a few lines.
    """
    began = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE if keep_output else None, text=True)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return Cost(seconds, usage.ru_maxrss / 2**20, child.communicate()[0] or "")
