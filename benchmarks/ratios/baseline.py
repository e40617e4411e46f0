"""Ratios as they once were, and where they were measured, so that a later loss of speed is seen."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from lqm.engine.environment import environment
from lqm.utils.files import write_atomically

PATH = Path(__file__).with_name("baseline.json")
_TOLERANCE = 0.15
_PLACE = ("machine", "torch", "threads")

Place = dict[str, str | int]


@dataclass(frozen=True)
class Baseline:
    """Stored ratios.

    Attributes:
        place: machine, torch and threads that they were measured with.
        ratios: how many times as fast as the plain way ours is, by the title of the work.
    """

    place: Place = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)

    def lost(self, title: str, ratio: float) -> bool:
        """Whether a ratio is more than 15 % below the stored one; not if none is stored."""
        return title in self.ratios and ratio < (1 - _TOLERANCE) * self.ratios[title]

    def renewed(self, place: Place, ratios: Mapping[str, float]) -> "Baseline":
        """With new ratios; others are kept if they were measured in the same place."""
        kept = self.ratios if self.place == place else {}
        return Baseline(place, {**kept, **{title: round(ratio, 3) for title, ratio in ratios.items()}})


def here() -> Place:
    """What ratios depend on beside the code."""
    found = environment(torch.device("cpu"))
    return {name: found[name] for name in _PLACE}


def read(path: Path) -> Baseline:
    """The stored baseline; an empty one if there is none."""
    return Baseline(**json.loads(path.read_text())) if path.exists() else Baseline()


def write(baseline: Baseline, path: Path) -> None:
    """Store a baseline."""
    write_atomically(path, (json.dumps(asdict(baseline), indent=2) + "\n").encode())
