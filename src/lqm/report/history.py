"""What a run has logged: metrics of its steps, and evaluations along the way."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from lqm.engine.run import EVALUATIONS, METRICS

Record = dict[str, Any]


class Curve(NamedTuple):
    """A metric over steps."""

    steps: list[float]
    values: list[float]


def metric_curves(folder: Path, points: int = 300, *, steps: int | None = None) -> dict[str, Curve]:
    """Every metric that a run has logged but the seconds; of many steps, means of neighbours.

    A number that is not finite is left out.

    Args:
        folder: of the run.
        points: of a curve, at most.
        steps: only so many; a finished run may have been taken further since.
    """
    lines = read_lines(folder / METRICS)[:steps]
    names = dict.fromkeys(name for line in lines for name in line if name not in ("step", "seconds"))
    known = {name: [line for line in lines if _is_finite(line.get(name))] for name in names}
    return {name: _thinned(found, name, points) for name, found in known.items() if found}


def evaluation_curve(folder: Path, steps: int) -> list[Record]:
    """The evaluations that were made in a run's first steps: step, accuracy, deviation, ..."""
    return [
        line
        for line in read_lines(folder / EVALUATIONS)
        if line["step"] <= steps and _is_finite(line.get("accuracy")) and _is_finite(line.get("deviation"))
    ]


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def read_lines(path: Path) -> list[Record]:
    """The records of a file of JSON lines; none if there is no file, and up to the first torn one."""
    records: list[Record] = []
    if not path.exists():
        return records
    for line in path.read_bytes().splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            break
        if not isinstance(record, dict) or "step" not in record:
            break
        records.append(record)
    return records


def _thinned(lines: Sequence[Record], name: str, points: int) -> Curve:
    """Means of neighbouring steps, at most `points` of them; a step counts as done, so the first is 1."""
    width = -(-len(lines) // points)
    groups = [lines[i : i + width] for i in range(0, len(lines), width)]
    return Curve(
        [fmean(line["step"] + 1 for line in group) for group in groups],
        [fmean(line[name] for line in group) for group in groups],
    )
