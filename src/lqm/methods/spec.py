"""What a table of methods says of each: its settings, how it is built, and what it can do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from lqm.engine import Method


class ExpertsNeeded(NamedTuple):
    """The experts that a method trains if it is given no bank of them.

    Attributes:
        settings: of their training.
        networks: how many.
        epochs: how long.
        setting: of the method, that says how many.
        least_epochs: that a bank must have.
    """

    settings: Any
    networks: int
    epochs: int
    setting: str
    least_epochs: int = 1


@dataclass(frozen=True)
class MethodSpec:
    """A method by its parts.

    Attributes:
        settings: a frozen dataclass with the defaults of its paper, among them `steps`.
        build: puts the method together, out of a problem and its settings.
        matches: whether it takes a distance.
        sketch_settings: the settings on which the real side depends, which a sketch fixes; none if the method
            can't use a sketch.
        live_settings: settings that have no part in a condensation by a sketch.
        experts: the experts that it needs, by its settings; None if it needs none.
        compiles: whether its networks are compiled where that pays.
        distance: what it matches by if no distance is given.
        scheduled: whether its steps depend on how many there are to be, so that a run can't be made longer.
    """

    settings: type[Any]
    build: Callable[[Any, Any], Method]
    matches: bool = True
    sketch_settings: tuple[str, ...] = ()
    live_settings: tuple[str, ...] = ()
    experts: Callable[[Any], ExpertsNeeded] | None = None
    compiles: bool = True
    distance: str = "lqm"
    scheduled: bool = False
