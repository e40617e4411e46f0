"""Ctrl-C and SIGTERM, from the first line of a command to the end of its process: one sentence each.

Whatever is on the disk is whole at every moment, so that a process may end anywhere. While a command is at
work it is unwound; before, afterwards, and where an exception would be lost, the process ends at once.
"""

import os
import signal

from lqm.utils import stop_requests

SIGNALS = (signal.SIGINT, signal.SIGTERM)
# After so many seconds a stop that was asked for is acknowledged, and after so many more it is forced.
_ACKNOWLEDGED, _FORCED = 0.3, 10.0
_SHOW_CURSOR = b"\x1b[?25h"
_CLOSED = -1

_working = False
_requests: list[int] = []
# The handlers before ours, and the end of a pipe to which every signal is written as it arrives.
_before: dict[int, object] = {}
_pipe: list[int] = []


class Stopped(KeyboardInterrupt):
    """Unwinds the command that is at work."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def listen() -> None:
    """Take over both signals, except where they are ignored, as under `nohup`, or are another thread's."""
    _requests.clear()
    stop_requests.forget()
    for number in SIGNALS:
        handler = signal.getsignal(number)
        if handler not in (signal.SIG_IGN, _handle):
            try:
                signal.signal(number, _handle)
            except ValueError:
                return
            _before[number] = handler


def begin_work() -> None:
    """From now on there is something to unwind; a stop is watched from a thread of its own."""
    global _working
    _working = True
    _watch()


def end_work() -> None:
    """Nothing is left to unwind."""
    global _working
    _working = False


def forget() -> None:
    """Leave the signals as they were, for a process that goes on after a command."""
    for number, handler in _before.items():
        signal.signal(number, handler)  # type: ignore[arg-type]
    _before.clear()
    if _pipe:
        signal.set_wakeup_fd(-1)
        os.close(_pipe.pop())


def _handle(number: int, frame: object) -> None:
    _requests.append(number)
    if not _working or len(_requests) > 1 or _would_be_lost(frame):
        _leave(number)
    raise Stopped(number)


def _would_be_lost(frame: object) -> bool:
    """Whether an exception here may be swallowed: by an import that has an alternative, or by a finaliser."""
    while frame is not None:
        code = frame.f_code  # type: ignore[attr-defined]
        if code.co_filename.startswith("<frozen importlib") or code.co_name == "__del__":
            return True
        frame = frame.f_back  # type: ignore[attr-defined]
    return False


def _leave(number: int) -> None:
    """End the process at once; only what may be done at any moment is done."""
    kept = stop_requests.what_is_kept() if _working else ""
    _write(f"lqm: stopped by {signal.Signals(number).name}{kept}\n")
    os._exit(128 + number)


def _write(line: str) -> None:
    try:
        terminal = _working and os.isatty(2)
        os.write(2, (_SHOW_CURSOR + b"\r\n" if terminal else b"") + line.encode())
    except OSError:
        return


def _watch() -> None:
    """Start the thread that acknowledges a stop, and forces it where the main thread does not come to it."""
    import threading

    if _pipe or threading.current_thread() is not threading.main_thread():
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    _pipe.append(writer)
    threading.Thread(target=_force, args=(reader,), daemon=True, name="stop").start()


def _force(reader: int) -> None:
    number = _asked(reader, None)
    again = _asked(reader, _ACKNOWLEDGED) if number != _CLOSED else number
    if again is None and number is not None:
        if _working and not stop_requests.answered():
            name = signal.Signals(number).name
            _write(f"lqm: stopping, as {name} asks; a second signal ends it at once\n")
        again = _asked(reader, _FORCED)
    if again == _CLOSED or number is None or not _pipe:  # without the pipe, the command is over
        os.close(reader)
    else:
        _leave(number if again is None else again)


def _asked(reader: int, seconds: float | None) -> int | None:
    """The next signal of ours within some seconds; none if there is none, or the pipe is closed."""
    import select

    while select.select([reader], [], [], seconds)[0]:
        read = os.read(reader, 1)
        if not read:
            return _CLOSED
        if read[0] in SIGNALS and signal.getsignal(read[0]) is not signal.SIG_IGN:
            return read[0]
    return None
