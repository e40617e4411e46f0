"""A condensation that is ready to begin, whatever it condenses."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, Method
from lqm.utils.errors import ConfigError


@dataclass(frozen=True)
class Stage:
    """What has to be done before the first step: so many steps of a method, `then` what they are for."""

    method: Method
    steps: int
    title: str
    then: Callable[[], None]


@dataclass(frozen=True)
class Plan:
    """What to run, and what to write down about it.

    Attributes:
        source: the real data, by which the set may be judged.
        config: what makes the run this run; another one is refused in the same folder.
        record: what the manifest says besides.
        title: of the progress.
        words: what the user should know before it begins, a line each.
        start: the choice of the start, if that takes steps of its own.
    """

    learner: Method
    steps: int
    source: Any
    config: Config
    record: Mapping[str, Any]
    title: str
    words: tuple[str, ...]
    start: Stage | None = None


def distance_for(method: str, *, matches: bool, distance: Distance | None) -> Distance | None:
    """The distance that a method is to match by, if it matches: LQM unless another is given."""
    if matches:
        return distance or DISTANCES["lqm"]
    if distance is not None:
        raise ConfigError(
            f"method '{method}' chooses real records and matches no distance; leave the distance out"
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


def in_words(settings: Mapping[str, Any]) -> str:
    """Settings as the user would write them."""
    return ", ".join(f"{name}={value}" for name, value in settings.items())
