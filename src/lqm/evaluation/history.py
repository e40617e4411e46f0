"""What a run has logged: metrics of its steps, and evaluations along the way."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from lqm.engine.run import EVALUATIONS, METRICS
from lqm.evaluation.spread import Spread
from lqm.utils.lines import read_lines
from lqm.utils.own_files import require_fields

_MOST = 1e300
_REMEDY = "restore it from a copy, or move it away"


class _Line(TypedDict):
    step: int


class _Steps(_Line):
    loss: NotRequired[float | None]
    seconds: NotRequired[float | None]


class _Evaluation(_Line):
    protocol: NotRequired[str]
    accuracy: NotRequired[float | None]
    accuracies: NotRequired[list[float]]


_METRICS, _EVALUATIONS = TypeAdapter(_Steps), TypeAdapter(_Evaluation)


class Curve(NamedTuple):
    """A metric over steps."""

    steps: list[float]
    values: list[float]


class Evaluated(NamedTuple):
    """An evaluation along the way."""

    step: int
    protocol: str
    accuracy: Spread


def metric_curves(folder: Path, points: int = 300, *, steps: int | None = None) -> dict[str, Curve]:
    """Every metric that a run has logged but the seconds; of more than `points` steps, means of neighbours.

    A number that is not finite is left out. Only the first `steps` count: a finished run may have been
    continued since.
    """
    lines = _first_lines(folder, steps)
    names = dict.fromkeys(name for line in lines for name in line if name not in ("step", "seconds"))
    known = {name: [line for line in lines if _is_finite(line.get(name))] for name in names}
    return {name: _thinned(found, name, points) for name, found in known.items() if found}


def read_losses(folder: Path, steps: int) -> list[float]:
    """The loss of each of a run's first steps, where it was logged and is finite.

    None of a run whose encoders learn beside it: their losses differ for this alone.
    """
    lines = _first_lines(folder, steps)
    if any("network_accuracy" in line for line in lines):
        return []
    return [line["loss"] for line in lines if _is_finite(line.get("loss"))]


def evaluation_curve(folder: Path, steps: int) -> list[Evaluated]:
    """The evaluations that were made in a run's first steps."""
    return [
        Evaluated(line["step"], str(line.get("protocol", "an evaluation")), accuracy)
        for line in _logged(folder / EVALUATIONS, _EVALUATIONS)
        if line["step"] <= steps and (accuracy := accuracy_of(line))
    ]


def accuracy_of(line: dict[str, Any]) -> Spread | None:
    """The accuracy in a line of the evaluations, over networks if it has each; None if it is no number."""
    each = line.get("accuracies") or [line.get("accuracy")]
    return Spread(tuple(each)) if isinstance(each, list | tuple) and all(map(_is_share, each)) else None


def _is_finite(value: object) -> bool:
    """Whether it is a number that float64 has; a whole one may be beyond its range."""
    return isinstance(value, int | float) and not isinstance(value, bool) and -_MOST < value < _MOST


def _is_share(value: object) -> bool:
    return _is_finite(value) and 0 <= value <= 1  # type: ignore[operator]


def _first_lines(folder: Path, steps: int | None) -> list[dict[str, Any]]:
    """The lines of a run's first steps, of all if none are given; damaged ones are named and left out."""
    lines = _logged(folder / METRICS, _METRICS)
    return lines if steps is None else [line for line in lines if line["step"] < steps]


def _logged(path: Path, kind: TypeAdapter[Any]) -> list[dict[str, Any]]:
    """The lines of a log; ArtifactError when one that is whole has a value of another type."""
    lines = read_lines(path)
    for line in lines:
        require_fields(kind, line, f"step {line['step']} in {path}", _REMEDY)
    return lines


def _thinned(lines: Sequence[dict[str, Any]], name: str, points: int) -> Curve:
    """Means of neighbouring steps, at most `points` of them; a step counts as done, so the first is 1."""
    width = -(-len(lines) // points)
    groups = [lines[i : i + width] for i in range(0, len(lines), width)]
    return Curve(
        [fmean(line["step"] + 1 for line in group) for group in groups],
        [fmean(line[name] for line in group) for group in groups],
    )
