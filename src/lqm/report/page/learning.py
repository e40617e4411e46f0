"""What the page shows of runs over their steps: metrics, and evaluations along the way."""

from collections.abc import Sequence
from typing import Any

from lqm.report.history import Curve, Record
from lqm.report.tables import percent

Content = dict[str, Any]


def learning(curves: Sequence[dict[str, Curve]], evaluations: Sequence[Sequence[Record]]) -> Content:
    """Charts and tables, a metric each, and one for each protocol that evaluated along the way.

    Args:
        curves: of each run its metrics.
        evaluations: of each run.
    """
    protocols = dict.fromkeys(_protocol(line) for found in evaluations for line in found)
    return {
        "metrics": [
            {"name": name, "rows": _metric(curves, name)}
            for name in sorted({name for found in curves for name in found})
        ],
        "protocols": [{"name": name, "rows": _accuracies(evaluations, name)} for name in protocols],
        "curves": [{name: curve._asdict() for name, curve in found.items()} for found in curves],
        "evaluations": {
            name: [[line for line in found if _protocol(line) == name] for found in evaluations]
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


def _accuracies(evaluations: Sequence[Sequence[Record]], protocol: str) -> list[Content]:
    return [
        {
            "case": number,
            "step": f"{line['step']:,}",
            "accuracy": f"{percent(line['accuracy'])} ± {percent(line['deviation'])}",
        }
        for number, found in enumerate(evaluations)
        for line in found
        if _protocol(line) == protocol
    ]


def _protocol(line: Record) -> str:
    return str(line.get("protocol", "an evaluation"))
