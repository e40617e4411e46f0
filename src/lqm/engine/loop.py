"""The argmin: the only loop there is."""

import math
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.engine.checkpoint import loading
from lqm.engine.events import events_in
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.panel import follow
from lqm.engine.progress import Evaluated
from lqm.engine.run import Metrics, RunFolder
from lqm.engine.stopping import GRACE_SECONDS, Interrupted, Stops
from lqm.utils.errors import ConfigError, DivergedError, StoppedError
from lqm.utils.log import warn

_SAVING_SHARE = 10
# What a run leaves on the disk: the last checkpoints, and a line a step.
_CHECKPOINTS, _LINE_BYTES = 2, 120


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


@dataclass(frozen=True)
class PeriodicEvaluation:
    """How a set is evaluated along the way: `find` scores it, after every so many steps and the last."""

    find: Callable[[], Evaluated]
    every: int

    def due(self, done: int, steps: int) -> bool:
        """Whether the set is to be evaluated after `done` of the steps."""
        return done > 0 and (done % self.every == 0 or done == steps)

    def left(self, done: int, steps: int) -> int:
        """How often it is to be evaluated after that."""
        return math.ceil(steps / self.every) - math.ceil(done / self.every)


def run(
    method: Method,
    steps: int,
    folder: RunFolder | None = None,
    *,
    name: str = "condense",
    checkpoint_seconds: float = 10.0,
    show_progress: bool = True,
    evaluation: PeriodicEvaluation | None = None,
    tensorboard: bool = False,
    callback: Callable[[int, Metrics], bool] | None = None,
) -> float:
    """Bring a method to `steps` steps, from the folder's last checkpoint if there is one.

    A run that was stopped or killed and resumed ends bit for bit like one that was not. Gives the
    seconds that all steps took, those before it was stopped included. With `checkpoint_seconds` 0 every step
    is saved. A step is saved before it is evaluated; what was found is kept in the folder, and made up for
    if the run was stopped meanwhile. `tensorboard` writes event files to the folder as well.
    `callback` is called with the number of each step, from 1, and what is logged of it; where it answers True
    the state is saved, and the run ends there.

    Raises:
        StoppedError: after Ctrl-C or SIGTERM; the state after the step is saved, or that before it if the
            step does not end within seconds.
        DivergedError: when a metric or the state stops being finite; the last good checkpoint is named.
        ConfigError: when the folder's run is longer than `steps` already.
    """
    first, last_good = _resume(method, steps, folder)
    done = first
    pending: list[tuple[int, Metrics]] = []
    saved_at = time.monotonic()
    saving = 0.0
    total = folder.seconds() if folder else 0.0
    evaluations = folder.evaluations() if folder else []
    last = evaluations[-1] if evaluations else None
    forecast = Forecast(
        steps,
        first,
        disk=(lambda: disk_of_run(method, steps)) if folder else None,
        beside=(lambda: _size(method, steps)) if folder else None,
        shorter=SHORTER["condense"],
    )
    stops, saved, stopping = Stops(enabled=folder is not None), first, False
    with (
        suppress(Interrupted),
        stops.collected(),
        events_in(folder.path / "tensorboard" if folder and tensorboard else None, first) as events,
        follow(name, steps, first, evaluations, shown=show_progress, forecast=forecast) as bar,
    ):
        stops.on_request = bar.stopping

        def evaluate(evaluation: PeriodicEvaluation) -> bool:
            """PeriodicEvaluation the set as it is; whether that was not interrupted."""
            bar.evaluating(done)
            try:
                with stops.at_once():
                    found = evaluation.find()
            except Interrupted:
                return False
            if events:
                events.evaluated(done, found)
            if folder:
                folder.log_evaluation(done, found)
            evaluations.append({"step": done, **found})
            bar.evaluated(evaluations, evaluation.left(done, steps))
            return True

        if last and last["step"] == first:
            if events:
                events.evaluated(first, last)
        elif evaluation and evaluation.due(first, steps):
            stopping = not evaluate(evaluation)
        for i in range(first, steps):
            if stopping:
                break
            done = i + 1
            try:
                began = time.monotonic()
                with stops.in_step():
                    metrics = method.step(i)
                _require_finite(metrics)
                seconds = time.monotonic() - began
                total += seconds
                logged = {**metrics, "seconds": round(seconds, 6)}
                ends = callback is not None and callback(done, logged)
                stopping = bool(stops.requests) or ends
                due = evaluation is not None and evaluation.due(done, steps)
                if folder:
                    pending.append((i, logged))
                    # A state that is slow to save is saved more rarely, so that it costs a tenth at most.
                    # A long step is saved at once, since the next one may be left in the middle.
                    usual = checkpoint_seconds if seconds < GRACE_SECONDS else 0.0
                    wait = max(usual, _SAVING_SHARE * saving) if checkpoint_seconds else 0.0
                    if stopping or due or done == steps or time.monotonic() - saved_at >= wait:
                        state = method.state()
                        _require_finite_state(state)
                        began = time.monotonic()
                        if events:
                            events.log(pending)
                        folder.log(pending)
                        last_good = folder.save(done, state)
                        pending, saved_at, saved = [], time.monotonic(), done
                        saving = saved_at - began
            except DivergedError as error:
                good = (
                    f"the last good checkpoint is {last_good}" if last_good else "there is no checkpoint yet"
                )
                raise DivergedError(
                    f"{error} at step {done} of {steps}; {good}. A lower learning rate usually helps."
                ) from None
            bar.update(done, metrics)
            if evaluation and due and not stopping:
                stopping = not evaluate(evaluation)
                saved_at = time.monotonic()
    if stops.requests:
        number = stops.requests[0]
        where = f"after step {done}" if saved == done else f"in step {done} (step {saved} is saved)"
        raise StoppedError(
            f"stopped by {signal.Signals(number).name} {where} of {steps}; "
            "the same command goes on from there",
            number,
        )
    return total


def _resume(method: Method, steps: int, folder: RunFolder | None) -> tuple[int, Path | None]:
    """Bring a method to the folder's last checkpoint; gives its step and its file."""
    checkpoint = folder.restore() if folder else None
    if folder is None or checkpoint is None:
        return 0, None
    if checkpoint.step > steps:
        raise ConfigError(
            f"the run in {folder.path} has made {checkpoint.step} steps already, more than {steps}; "
            "ask for at least as many, or choose another folder"
        )
    with loading(checkpoint):
        method.load_state(checkpoint.state)
    warn(f"going on from step {checkpoint.step} of {steps}")
    return checkpoint.step, checkpoint.path


def disk_of_run(method: Method, steps: int) -> int:
    """Bytes that so many steps of a method leave on the disk, without the result."""
    return _CHECKPOINTS * _size(method, steps) + _LINE_BYTES * steps


def _size(method: Method, steps: int) -> int:
    """Bytes of a method's state after so many steps."""
    growth = getattr(method, "growth", None)
    return sum(tensor.nbytes for tensor in method.state().values()) + (growth(steps) if growth else 0)


def _require_finite(metrics: Metrics) -> None:
    for name, value in metrics.items():
        if not math.isfinite(value):
            raise DivergedError(f"{name} became {value}")


def _require_finite_state(state: dict[str, Tensor]) -> None:
    for name, tensor in state.items():
        if tensor.is_floating_point() and not torch.isfinite(tensor).all():
            raise DivergedError(f"{name} is no longer finite")
