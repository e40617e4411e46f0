"""Runs side by side: a table a source and way of judging, a row a method, distance and budget."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from rich.table import Table

from lqm.condensed import CondensedSet
from lqm.report.tables import plain_table

Manifest = dict[str, Any]

_COLUMNS = ("method", "distance", "per\nclass", "runs", "accuracy %", "CvM", "extremes\n%", "seconds")
_NOTE = (
    "accuracy: mean and deviation, over runs (each the mean of its networks) where there are several, or "
    "over networks; CvM and extremes: before the networks' training; seconds: of the condensation."
)


class Judged(NamedTuple):
    """A run with one of its scores, if it has any."""

    run: Manifest
    score: Manifest | None


def comparison_tables(sets: Sequence[CondensedSet]) -> Iterator[Table]:
    """Only runs that were condensed from the same data and judged in the same way share a table.

    Runs that differ by their seed alone share a row.
    """
    tables: defaultdict[tuple[str, str, str], list[Judged]] = defaultdict(list)
    for small in sets:
        source = small.manifest["source"]
        for score in small.manifest.get("scores") or [None]:
            tables[source["name"], source["fingerprint"], _judging(score)].append(
                Judged(small.manifest, score)
            )
    for (name, _, judging), runs in sorted(tables.items()):
        rows: defaultdict[tuple[int, str, str], list[Judged]] = defaultdict(list)
        for judged in runs:
            rows[_kind(judged.run)].append(judged)
        table = plain_table(_COLUMNS, [_row(kind, rows[kind]) for kind in sorted(rows)], _NOTE)
        table.title, table.title_justify = f"{name}: {judging}", "left"
        yield table


def _kind(run: Manifest) -> tuple[int, str, str]:
    return run["per_class"], run["method"], run["distance"]["name"] if run["distance"] else "-"


def _judging(score: Manifest | None) -> str:
    if score is None:
        return "not evaluated yet, run lqm evaluate"
    protocol = score["protocol"]
    return f"{protocol['name']}, {protocol['epochs']} epochs, {protocol['network']}"


def _row(kind: tuple[int, str, str], found: list[Judged]) -> tuple[str, ...]:
    per_class, method, distance = kind
    seconds = f"{fmean(run['seconds'] for run, _ in found):,.0f}"
    scores = [score for _, score in found if score]
    numbers = ["-"] * 3
    if scores:
        means = [score["accuracy"] for score in scores]
        spread = pstdev(means if len(means) > 1 else scores[0]["accuracies"])
        numbers = [
            f"{100 * fmean(means):.1f} ± {100 * spread:.1f}",
            f"{fmean(score['before']['cramer_von_mises'] for score in scores):.3f}",
            f"{100 * fmean(score['before']['extremes'] for score in scores):.2f}",
        ]
    return method, distance, str(per_class), str(len(found)), *numbers, seconds
