"""Requests to stop a run: a step may end first, unless that takes long."""

import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

# A step that takes longer than this after a request is left in the middle; the last checkpoint counts.
GRACE_SECONDS = 3.0
# How long an interrupted step has to unwind.
_POLL_SECONDS, _UNWIND_SECONDS = 0.1, 2.0


class Interrupted(KeyboardInterrupt):
    """What was going on can be left as it is, since all before it is saved."""


class Stops:
    """The first Ctrl-C or SIGTERM is collected instead of dying of it; a second one acts as usual.

    Args:
        enabled: whether to collect any; only the main thread can.

    Attributes:
        on_request: called at once, in the signal handler, when what goes on may end first.
    """

    def __init__(self, *, enabled: bool) -> None:
        main = threading.main_thread()
        self._enabled = enabled and threading.current_thread() is main
        self._thread = main.ident or 0
        self._at_once = self._in_step = False
        self._requested, self._closed, self._lock = threading.Event(), threading.Event(), threading.Lock()
        self.requests: list[int] = []
        self.on_request: Callable[[], None] = lambda: None

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect requests inside the block."""
        if not self._enabled:
            yield
            return
        previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

        def request(number: int, frame: FrameType | None) -> None:
            self.requests.append(number)
            for known, handler in previous.items():
                signal.signal(known, handler)
            self._requested.set()
            if self._at_once:
                raise Interrupted
            self.on_request()

        threading.Thread(target=self._cut_long_step, daemon=True, name="stops").start()
        for number in previous:
            signal.signal(number, request)
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            self._closed.set()
            self._requested.set()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Be interrupted by a request inside the block, or by one that was made before it."""
        self._at_once = True
        try:
            if self.requests:
                raise Interrupted
            yield
        finally:
            self._at_once = False

    @contextmanager
    def in_step(self) -> Iterator[None]:
        """Be interrupted inside the block if it does not end soon after a request."""
        self._in_step = True
        try:
            yield
        finally:
            with self._lock:
                self._in_step = False
                _raise_in(self._thread, None)

    def _cut_long_step(self) -> None:
        self._requested.wait()
        over = self._closed.wait(GRACE_SECONDS)
        while not over:
            with self._lock:
                if cut := self._in_step:
                    _raise_in(self._thread, Interrupted)
            over = self._closed.wait(_UNWIND_SECONDS if cut else _POLL_SECONDS)


@contextmanager
def unwound_at_sigterm() -> Iterator[None]:
    """Let SIGTERM, where it would end the process at once, do so after what is temporary is cleared away."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an error in a thread at its next instruction, or take one back that has not been raised yet."""
    asked = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), asked)
