"""What is to be condensed: everything that a method is told but its own settings."""

from collections.abc import Callable
from dataclasses import dataclass, field

import torch

from lqm.banks import Experts, Sketch
from lqm.distances import DISTANCES, Distance


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """The part of a problem that does not depend on the kind of data.

    Attributes:
        class_names: what the class numbers mean.
        counts: synthetic records of each class that the user gets.
        distance: what is matched; LQM if the method matches something and nothing was chosen.
        seed: everything random follows from it.
        device: where to compute.
        sketch: what many encoders left behind of the real data, in place of passes over it.
        experts: opens a bank of networks along their training on the real data.
    """

    class_names: tuple[str, ...]
    counts: tuple[int, ...]
    distance: Distance = field(default_factory=lambda: DISTANCES["lqm"])
    seed: int
    device: torch.device
    sketch: Sketch | None = None
    experts: Callable[[], Experts] | None = None
