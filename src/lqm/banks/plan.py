"""A sketch that is ready to be made, whatever it is of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lqm.banks.folder import SketchWriter

# Quantiles for each synthetic record at the largest budget: an odd number makes that budget's exact.
FINENESS = 3


@dataclass(frozen=True)
class SketchPlan:
    """What to make, and what to write down about it.

    Attributes:
        config: what makes the sketch this sketch; another one is refused in the same folder.
        environment: what its last bits depend on.
        words: what the user should know before it begins, a line each.
        add: makes one encoder, with what it leaves behind of the real data, and writes both.
    """

    config: dict[str, Any]
    environment: dict[str, Any]
    words: tuple[str, ...]
    add: Callable[[SketchWriter, int], None]


def sketch_config(
    source: Mapping[str, Any], method: str, max_per_class: int, seed: int, settings: dict[str, Any]
) -> dict[str, Any]:
    """What makes a sketch this sketch."""
    return {
        "source": dict(source),
        "method": method,
        "max_per_class": max_per_class,
        "fineness": FINENESS,
        "seed": seed,
        "settings": settings,
    }
