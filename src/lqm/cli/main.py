"""The entry point. It listens to signals before anything that takes time is imported."""

import atexit
import os
import sys

from lqm.cli import signals
from lqm.cli.loading import begin_loading
from lqm.utils.streams import steady_streams

# By SIGINT and by SIGTERM.
_STOPPED = (130, 143)


def main() -> None:
    """Entry point: a mistake of the user's ends in one sentence and a non-zero exit, never in a traceback."""
    signals.listen()
    begin_loading()
    # Threads that wait for each other in a long busy loop starve when the machine has other work: beside two
    # other processes a step of DM took 9 times as long. GNU OpenMP reads this when torch is loaded.
    os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    steady_streams()
    try:
        from lqm.cli.dispatch import dispatch

        signals.begin_work()
        dispatch(sys.argv[1:])
        sys.stdout.flush()
    except BaseException as error:
        signals.end_work()
        try:
            from lqm.cli.failing import fail
        except MemoryError:
            os.write(2, b"lqm: there is not enough memory to load the program; close other programs\n")
            os._exit(1)
        fail(error)
    finally:
        signals.end_work()


def run() -> None:
    """`main` as a process of its own.

    After a stop it ends without the interpreter's own end, at which threads of libraries, such as those that
    compile, may abort it.
    """
    try:
        main()
    except SystemExit as end:
        if end.code not in _STOPPED:
            raise
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(end.code))
