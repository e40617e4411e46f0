"""A sketch that is ready to be made, whatever it is of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lqm.sketches.folder import SketchWriter


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
