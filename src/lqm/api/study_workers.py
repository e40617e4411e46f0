"""Several cells at a time, each in a process of its own that reads cells and writes their lines as JSON."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from queue import SimpleQueue
from signal import SIGINT, SIGKILL, SIGTERM, Signals

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.api.cells import Place, failed_line, run_cell
from lqm.studies.cell import Cell
from lqm.studies.lines import CellLine, StudyHead
from lqm.utils.errors import StoppedError

_LINE = TypeAdapter(CellLine)
_STOPPED = "stopped"


@dataclass(frozen=True)
class _Piece:
    """What a process is given to do."""

    cell: Cell
    head: StudyHead
    place: Place


_PIECE = TypeAdapter(_Piece)


def in_workers(cells: Sequence[Cell], head: StudyHead, place: Place, jobs: int) -> Iterator[CellLine]:
    """The lines of cells, as they come, from so many processes.

    A process that dies costs its cell, whose line says so, and another one takes its place.
    """
    idle: SimpleQueue[_Worker] = SimpleQueue()
    threads = max(1, (os.cpu_count() or 1) // jobs)
    workers = [_Worker(threads) for _ in range(min(jobs, len(cells)))]
    for worker in workers:
        idle.put(worker)

    def run(cell: Cell) -> CellLine:
        worker = idle.get()
        try:
            return worker.run(cell, head, place)
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(len(workers) or 1)
    try:
        for future in as_completed([pool.submit(run, cell) for cell in cells]):
            yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()


class _Worker:
    """A process that runs one cell after another."""

    def __init__(self, threads: int) -> None:
        self._environment = {"OMP_NUM_THREADS": str(threads)} | os.environ
        self._process, self._closed = self._start(), False

    def _start(self) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", __name__, str(os.getpid())]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self._environment
        )

    def run(self, cell: Cell, head: StudyHead, place: Place) -> CellLine:
        """The line of a cell; of a failed one if the process dies."""
        piece = _PIECE.dump_json(_Piece(cell, head, place)).decode()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{piece}\n")
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if answer.startswith('{"stopped"'):
            raise StoppedError(json.loads(answer)[_STOPPED], SIGINT)
        if answer.endswith("\n"):
            return _LINE.validate_json(answer)
        code = self._process.wait()
        if self._closed:
            raise StoppedError("the study was stopped; the same command goes on", SIGINT)
        self._process = self._start()
        return failed_line(cell, head, place, f"the process that ran it was {_ended(code)}")

    def close(self) -> None:
        """End the process; one that is in the middle of a cell saves its state first."""
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


def _serve() -> None:
    """Run the cells that come by the standard input; nothing but their lines goes to the standard output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    for text in sys.stdin:
        piece = _PIECE.validate_json(text)
        try:
            line = run_cell(piece.cell, piece.head, piece.place)
        except StoppedError as error:
            answers.write(json.dumps({_STOPPED: str(error)}) + "\n")
            return
        answers.write(_LINE.dump_json(line).decode() + "\n")
        answers.flush()


def _end_with(parent: int) -> None:
    """Save and stop when the process of the study is no longer there."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os.kill(os.getpid(), SIGTERM)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        _serve()
