"""One way of doing one work, in a process of its own.

python -m benchmarks.ratios.worker NAME plain|ours [tuned] [processor]
"""

import os
import sys
import time
from collections.abc import Callable


def main() -> None:
    name, way, *settings = sys.argv[1:]
    if "tuned" in settings:
        # Before torch is loaded and has asked for memory.
        import lqm

        lqm.tune_allocator()
    import torch

    from benchmarks.ratios.works import WORKS

    torch.manual_seed(0)
    clock = time.process_time if "processor" in settings else time.perf_counter
    serve(WORKS[name].plain if way == "plain" else WORKS[name].ours, clock)


def serve(make: Callable[[], Callable[[], object]], clock: Callable[[], float] = time.perf_counter) -> None:
    """Make the work ready and say so; then do it for each line that comes, and answer with its seconds."""
    # Whatever else prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    step = make()
    print("ready", file=answers, flush=True)
    for _ in sys.stdin:
        began = clock()
        step()
        print(clock() - began, file=answers, flush=True)


if __name__ == "__main__":
    main()
