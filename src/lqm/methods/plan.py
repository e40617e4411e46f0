"""A condensation that is ready to begin, whatever it condenses, and the one way to run it."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any

import numpy as np

from lqm.condensed import CondensedSet
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, Method, Metrics, RunFolder, run
from lqm.engine.forecast import begin_peak, peak_memory
from lqm.engine.loop import PeriodicEvaluation
from lqm.methods.named_distance import named_distance
from lqm.utils.errors import ConfigError
from lqm.utils.log import warn


@dataclass(frozen=True)
class Stage:
    """What has to be done before the first step: so many steps of a method, `then` what they are for."""

    method: Method
    steps: int
    title: str
    then: Callable[[], None]


@dataclass(frozen=True)
class Plan:
    """What to run, and what to record about it.

    Attributes:
        source: the real data, by which the set may be evaluated.
        config: what makes the run this run; another one is refused in the same folder.
        record: what the manifest says besides.
        title: of the progress.
        notes: what the user should know before it begins, a line each.
        experts: trains or opens the experts that the method needs.
        init: the choice of the init, if that takes steps of its own.
        lengths: of a condensed set, by class, how long its features are beside the real ones, if that counts.
    """

    method: Method
    steps: int
    source: Any
    config: Config
    record: Mapping[str, Any]
    title: str
    notes: tuple[str, ...] = ()
    experts: Callable[[], object] | None = None
    init: Stage | None = None
    lengths: Callable[[Any], Sequence[Any]] | None = None

    def result(self, **more: Any) -> CondensedSet:
        """The set as it is now, with its whole manifest."""
        result = self.method.result()
        return replace(result, manifest={**self.config, **self.record, **more, **result.manifest})


@dataclass(frozen=True)
class Following:
    """How a run is shown, saved and followed.

    Attributes:
        show_progress: whether to show the steps and the time left.
        checkpoint_seconds: time between checkpoints.
        evaluation: evaluates the set along the way.
        tensorboard: whether to write event files to the run folder.
        callback: called after each step with its number, from 1, and what is logged of it; True ends the run.
    """

    show_progress: bool = True
    checkpoint_seconds: float = 10.0
    evaluation: PeriodicEvaluation | None = None
    tensorboard: bool = False
    callback: Callable[[int, Metrics], object] | None = None


class _Listener:
    """Keeps what is logged of a run without a folder, and asks the user's callback whether to go on."""

    def __init__(self, callback: Callable[[int, Metrics], object] | None, *, keep: bool) -> None:
        self._callback, self._keep = callback, keep
        self.logged: list[Metrics] = []
        self.ended_after: int | None = None

    def __call__(self, step: int, metrics: Metrics) -> bool:
        if self._keep:
            self.logged.append({"step": step - 1, **metrics})
        answer = self._callback(step, dict(metrics)) if self._callback else None
        # What else a function happens to return, such as the list that it adds to, is no request to end.
        if isinstance(answer, bool | np.bool_) and answer:
            self.ended_after = step
        return self.ended_after is not None


def learn(plan: Plan, folder: RunFolder | None, following: Following) -> CondensedSet:
    """Run a plan to its last step, or to that at which the callback ends it, from where it was stopped."""
    if following.show_progress:
        for line in plan.notes:
            warn(line)
    shown: dict[str, Any] = {
        "checkpoint_seconds": following.checkpoint_seconds,
        "show_progress": following.show_progress,
    }
    seconds, cpu, resumed = 0.0, time.process_time(), _begun(folder)
    begin_peak()
    if plan.experts:
        plan.experts()
    if plan.init and not resumed:
        with _init_folder(folder, plan) as place:
            seconds = run(plan.init.method, plan.init.steps, place, name=plan.init.title, **shown)
        plan.init.then()
    listener = _Listener(following.callback, keep=folder is None)
    seconds += run(
        plan.method,
        plan.steps,
        folder,
        name=plan.title,
        evaluation=following.evaluation,
        tensorboard=following.tensorboard,
        callback=listener,
        **shown,
    )
    cost: dict[str, Any] = {"seconds": round(seconds, 3), "peak_memory": peak_memory()}
    if not resumed:
        cost["cpu_seconds"] = round(time.process_time() - cpu, 3)
    if listener.ended_after is not None:
        cost["steps"] = listener.ended_after
    return replace(plan.result(**cost), logged=tuple(listener.logged))


def _begun(folder: RunFolder | None) -> bool:
    """Whether a run has made steps already, and so needs no init."""
    return folder is not None and (folder.path / "checkpoints").exists()


def _init_folder(folder: RunFolder | None, plan: Plan) -> AbstractContextManager[RunFolder | None]:
    """A folder of its own for choosing the init, so that it too goes on where it was stopped."""
    if folder is None:
        return nullcontext()
    return RunFolder(folder.path / "start", plan.config, plan.record["environment"])


def distance_for(
    method: str, *, matches: bool, distance: Distance | None, default: str = "lqm"
) -> Distance | None:
    """The distance that a method is to match by, if it matches features: the default unless one is given."""
    if matches:
        return distance or DISTANCES[default]
    if distance is not None:
        raise ConfigError(
            f"method '{method}' compares no features of real and synthetic records; leave the distance out"
        )
    return None


def distance_record(distance: Distance | None) -> dict[str, Any] | None:
    """A distance as the manifest records it, after checking that it is one."""
    if distance is None:
        return None
    if isinstance(distance, type) or not all(hasattr(distance, part) for part in ("name", "target", "loss")):
        raise ConfigError(
            f"{distance!r} is no distance; pass a name, or an object with a name, a target and a loss"
        )
    options: dict[str, Any] = asdict(distance) if is_dataclass(distance) else {}
    try:
        recorded: dict[str, Any] = json.loads(json.dumps(options | {"name": distance.name}))
    except TypeError as error:
        raise ConfigError(f"the options of distance '{distance.name}' can't be recorded: {error}") from None
    return recorded


def recorded_distance(record: Mapping[str, Any]) -> Distance | None:
    """The distance that a manifest records, if it has a name here and not only where the set was made."""
    try:
        found = named_distance(str(record.get("name")))
    except ConfigError:
        return None
    return found if distance_record(found) == dict(record) else None


def titled(method: str, distance: Distance | None) -> str:
    """A method and its distance, for the progress."""
    return f"{method} + {distance.name}" if distance else method


def as_text(settings: Mapping[str, Any]) -> str:
    """Settings as the user would write them.

    Example:
        >>> as_text({"steps": 20, "zca": True, "augmentation": ("crop", "flip")})
        'steps=20, zca=true, augmentation=crop,flip'
    """
    return ", ".join(f"{name}={_value_as_text(value)}" for name, value in settings.items())


def _value_as_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
