"""Several pieces at a time, each in a process of its own on this machine."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import SimpleQueue
from signal import SIGINT, SIGKILL, Signals

from lqm.executors.executor import Lost, Piece, Work
from lqm.executors.frames import read_frame, write_frame
from lqm.utils.cache import Packed
from lqm.utils.errors import ConfigError, StoppedError

Result = Packed | Lost
_Message = tuple[Piece, Result] | BaseException | None


class Processes:
    """Does pieces in so many processes; one that dies costs its piece, and another takes its place.

    Args:
        jobs: how many.
    """

    def __init__(self, jobs: int) -> None:
        self.slots, self.workers = jobs, 0

    def map(self, work: Work, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, Result]]:
        """The results of pieces, as they come.

        Raises:
            ConfigError: when the data were handed over in Python: other processes could not find them.
            StoppedError: when a process was asked to stop.
        """
        if not work.findable:
            raise ConfigError(
                "data that a program has handed over are in its own process alone; leave jobs out, or give a "
                "name or a path as source"
            )
        todo = [*pieces]
        self.workers = min(self.slots, len(todo))
        processes = [_Process(work) for _ in range(self.workers)]
        idle: SimpleQueue[_Process] = SimpleQueue()
        found: SimpleQueue[_Message] = SimpleQueue()
        for process in processes:
            idle.put(process)

        def run(piece: Piece) -> None:
            process = idle.get()
            try:
                process.run(piece, lambda result: found.put((piece, result)))
                found.put(None)
            except BaseException as error:  # it is raised again where the results are waited for
                found.put(error)
            finally:
                idle.put(process)

        pool = ThreadPoolExecutor(len(processes) or 1)
        try:
            for piece in todo:
                pool.submit(run, piece)
            left = len(todo)
            while left:
                message = found.get()
                if isinstance(message, BaseException):
                    raise message
                if message is None:
                    left -= 1
                else:
                    yield message
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.close()


class _Process:
    """A process that does one piece after another."""

    def __init__(self, work: Work) -> None:
        self._work, self._closed = work, False
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "lqm.executors.worker", str(os.getpid())]
        threads = {"OMP_NUM_THREADS": str(self._work.threads)}
        started = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | threads
        )
        assert started.stdin is not None
        with suppress(BrokenPipeError):
            opener, context = self._work.opener, dict(self._work.context)
            write_frame(started.stdin, {"opener": opener, "context": context, "threads": self._work.threads})
        return started

    def run(self, piece: Piece, keep: Callable[[Result], None]) -> None:
        """Do a piece, and keep its results."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            write_frame(self._process.stdin, {"given": piece.given.notes}, piece.given.tensors)
        while answer := read_frame(self._process.stdout):
            head, tensors = answer
            if "stopped" in head:
                raise StoppedError(head["stopped"], SIGINT)
            if "result" not in head:
                if "failed" in head:
                    keep(Lost(head["failed"]))
                return
            keep(Packed(tensors, head["result"]))
        code = self._process.wait()
        if self._closed:
            raise StoppedError("the work was stopped; the same command goes on", SIGINT)
        self._process = self._start()
        keep(Lost(f"the process that ran it was {_ended(code)}"))

    def close(self) -> None:
        """End the process; one that is in the middle of a piece may save its state first."""
        self._closed = True
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        self._process.terminate()
        self._process.wait()


def _ended(code: int) -> str:
    """How a process ended; what the system kills without a word has mostly run out of memory."""
    if code >= 0:
        return f"ended with code {code}"
    return f"ended by {Signals(-code).name}" + "; perhaps memory was short" * (-code == SIGKILL)
