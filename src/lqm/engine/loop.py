"""The argmin: the only loop there is."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Protocol

import torch
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.engine.progress import Progress, warn
from lqm.engine.run import Metrics, RunFolder
from lqm.errors import ConfigError, DivergedError, StoppedError

_SAVING_SHARE = 10


class Method(Protocol):
    """One way to improve a synthetic set; owns no loop, no file, no progress bar and no print."""

    def step(self, i: int) -> Metrics:
        """Make update i of the synthetic set; all randomness comes from (seed, purpose, i)."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything that the next step depends on."""
        ...

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up a state again."""
        ...

    def result(self) -> CondensedSet:
        """The set as it is now."""
        ...


def run(
    method: Method,
    steps: int,
    folder: RunFolder | None = None,
    *,
    name: str = "condense",
    checkpoint_seconds: float = 10.0,
    show_progress: bool = True,
) -> float:
    """Bring a method to `steps` steps, from the folder's last checkpoint if there is one.

    A run that was stopped or killed and taken up again ends bit for bit like one that was not. Gives the
    seconds that all steps took, those before it was stopped included. With `checkpoint_seconds` 0 every step
    is saved.

    Raises:
        StoppedError: after Ctrl-C or SIGTERM; the state is saved.
        DivergedError: when a metric or the state stops being finite; the last good checkpoint is named.
        ConfigError: when the folder's run is longer than `steps` already.
    """
    first, last_good = _take_up(method, steps, folder)
    done = first
    pending: list[tuple[int, Metrics]] = []
    saved_at = time.monotonic()
    saving = 0.0
    total = folder.seconds() if folder else 0.0
    with (
        _stop_requests(enabled=folder is not None) as requests,
        Progress(name, steps, first, shown=show_progress) as bar,
    ):
        for i in range(first, steps):
            done = i + 1
            try:
                began = time.monotonic()
                metrics = method.step(i)
                _require_finite(metrics)
                seconds = time.monotonic() - began
                total += seconds
                stopping = bool(requests)
                if folder:
                    pending.append((i, {**metrics, "seconds": round(seconds, 6)}))
                    # A state that is slow to save is saved more rarely, so that it costs a tenth at most.
                    wait = max(checkpoint_seconds, _SAVING_SHARE * saving) if checkpoint_seconds else 0.0
                    if stopping or done == steps or time.monotonic() - saved_at >= wait:
                        state = method.state()
                        _require_finite_state(state)
                        began = time.monotonic()
                        folder.log(pending)
                        last_good = folder.save(done, state)
                        pending, saved_at = [], time.monotonic()
                        saving = saved_at - began
            except DivergedError as error:
                good = (
                    f"the last good checkpoint is {last_good}" if last_good else "there is no checkpoint yet"
                )
                raise DivergedError(
                    f"{error} at step {done} of {steps}; {good}. A lower learning rate usually helps."
                ) from None
            bar.update(done, metrics)
            if stopping:
                break
    if requests:
        raise StoppedError(
            f"stopped by {signal.Signals(requests[0]).name} after step {done} of {steps}; "
            "the same command goes on from there",
            requests[0],
        )
    return total


def _take_up(method: Method, steps: int, folder: RunFolder | None) -> tuple[int, Path | None]:
    """Bring a method to the folder's last checkpoint; gives its step and its file."""
    checkpoint = folder.restore() if folder else None
    if folder is None or checkpoint is None:
        return 0, None
    if checkpoint.step > steps:
        raise ConfigError(
            f"the run in {folder.path} has made {checkpoint.step} steps already, more than {steps}; "
            "ask for at least as many, or choose another folder"
        )
    method.load_state(checkpoint.state)
    warn(f"going on from step {checkpoint.step} of {steps}")
    return checkpoint.step, checkpoint.path


def _require_finite(metrics: Metrics) -> None:
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise DivergedError(f"{name} became {value}")


def _require_finite_state(state: dict[str, Tensor]) -> None:
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise DivergedError(f"{name} is no longer finite")


@contextmanager
def _stop_requests(*, enabled: bool) -> Iterator[list[int]]:
    """Collect the first Ctrl-C or SIGTERM instead of dying of it; a second one acts as usual."""
    requests: list[int] = []
    if not enabled or threading.current_thread() is not threading.main_thread():
        yield requests
        return
    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def request(number: int, frame: FrameType | None) -> None:
        requests.append(number)
        for known, handler in previous.items():
            signal.signal(known, handler)

    for number in previous:
        signal.signal(number, request)
    try:
        yield requests
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
