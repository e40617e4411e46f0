"""A condensation that is ready to begin, whatever it condenses, and the one way to run it."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any

from lqm.condensed import CondensedSet
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, Method, RunFolder, run
from lqm.engine.loop import PeriodicEvaluation
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
    """

    show_progress: bool = True
    checkpoint_seconds: float = 10.0
    evaluation: PeriodicEvaluation | None = None
    tensorboard: bool = False


def learn(plan: Plan, folder: RunFolder | None, following: Following) -> CondensedSet:
    """Run a plan to its last step, from where it was stopped before."""
    if following.show_progress:
        for line in plan.notes:
            warn(line)
    shown: dict[str, Any] = {
        "checkpoint_seconds": following.checkpoint_seconds,
        "show_progress": following.show_progress,
    }
    seconds = 0.0
    if plan.experts:
        plan.experts()
    if plan.init and not _begun(folder):
        with _init_folder(folder, plan) as place:
            seconds = run(plan.init.method, plan.init.steps, place, name=plan.init.title, **shown)
        plan.init.then()
    seconds += run(
        plan.method,
        plan.steps,
        folder,
        name=plan.title,
        evaluation=following.evaluation,
        tensorboard=following.tensorboard,
        **shown,
    )
    return plan.result(seconds=round(seconds, 3))


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


def titled(method: str, distance: Distance | None) -> str:
    """A method and its distance, for the progress."""
    return f"{method} + {distance.name}" if distance else method


def as_text(settings: Mapping[str, Any]) -> str:
    """Settings as the user would write them."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())
