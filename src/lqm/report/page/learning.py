"""What the page shows of runs over their steps: metrics, and evaluations along the way."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.history import Curve, Evaluated

Content = dict[str, Any]


def learning(curves: Sequence[dict[str, Curve]], evaluations: Sequence[Sequence[Evaluated]]) -> Content:
    """Charts and tables: one for each metric of the runs, and for each protocol along the way."""
    protocols = dict.fromkeys(line.protocol for found in evaluations for line in found)
    return {
        "metrics": [
            {"name": name, "rows": _metric(curves, name)}
            for name in sorted({name for found in curves for name in found})
        ],
        "protocols": [{"name": name, "rows": _accuracies(evaluations, name)} for name in protocols],
        "curves": [{name: curve._asdict() for name, curve in found.items()} for found in curves],
        "evaluations": {
            name: [[_point(line) for line in found if line.protocol == name] for found in evaluations]
            for name in protocols
        },
    }


def _metric(curves: Sequence[dict[str, Curve]], name: str) -> list[Content]:
    rows = []
    for number, found in enumerate(curves):
        if name in found:
            values = found[name].values
            numbers = {"first": values[0], "least": min(values), "most": max(values), "last": values[-1]}
            rows.append({"case": number, **{word: f"{value:.4g}" for word, value in numbers.items()}})
    return rows


def _accuracies(evaluations: Sequence[Sequence[Evaluated]], protocol: str) -> list[Content]:
    return [
        {"case": number, "step": f"{line.step:,}", "accuracy": line.accuracy.percent()}
        for number, found in enumerate(evaluations)
        for line in found
        if line.protocol == protocol
    ]


def _point(line: Evaluated) -> Content:
    return {"step": line.step, "accuracy": line.accuracy.mean, "deviation": line.accuracy.deviation}
