"""What a run has logged of its steps, as arrays."""

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

METRICS = "metrics.jsonl"

History: TypeAlias = dict[str, NDArray[np.int64] | NDArray[np.float64]]


def as_history(lines: Sequence[Mapping[str, object]]) -> History:
    """The number of each step, from 1, and each metric, [steps]; NaN where a step has none.

    Example:
        >>> as_history([{"step": 0, "loss": 2.0}, {"step": 1, "loss": 1.5}])
        {'step': array([1, 2]), 'loss': array([2. , 1.5])}
    """
    names = dict.fromkeys(name for line in lines for name in line if name != "step")
    found: History = {"step": np.array([_number(line["step"]) + 1 for line in lines], dtype=np.int64)}
    return found | {name: np.array([_number(line.get(name)) for line in lines]) for name in names}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
