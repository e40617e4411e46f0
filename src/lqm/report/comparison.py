"""Runs side by side: a table a source and way of judging, a row a method, distance and budget."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev
from typing import Any, NamedTuple

from rich.table import Table

from lqm.condensed import CondensedSet
from lqm.report.records import apart, key_of, scores_by_judging
from lqm.report.tables import plain_table
from lqm.scores import refuse_memory

Manifest = dict[str, Any]

_COLUMNS = ("steps", "runs", "accuracy %", "CvM", "extremes\n%", "seconds")
# What a run's size is called in its manifest, and in a table: images of each class, or nodes in all.
_SIZES = {"per_class": "per\nclass", "budget": "budget"}
_KIND = ("method", "distance", "steps", "settings")
NOTE = (
    "accuracy: mean and deviation, over runs (each the mean of its networks) where there are several, or "
    "over networks; CvM (to be compared between sets of as many records) and extremes: before the training; "
    "seconds: of the condensation."
)


class Judged(NamedTuple):
    """A run, and what networks of all evaluation seeds found of it under one protocol."""

    run: Manifest
    scores: list[Manifest]


def comparison_tables(sets: Sequence[CondensedSet]) -> Iterator[Table]:
    """Only runs that were condensed from the same data and judged in the same way share a table.

    Runs that differ by their seed alone share a row.
    """
    tables: defaultdict[str, list[Judged]] = defaultdict(list)
    for condensed in sets:
        refuse_memory(condensed.manifest)
    for same in same_data(sets):
        copies = [condensed.manifest for condensed in same]
        for judging, scores in (scores_by_judging(copies) or {"": []}).items():
            tables[key_of(copies[0]["source"]) + judging].append(Judged(copies[0], scores))
    for key in sorted(tables):
        size = next(size for size in _SIZES if size in tables[key][0].run)
        parts = (size, *_KIND)
        rows: defaultdict[str, list[Judged]] = defaultdict(list)
        for judged in tables[key]:
            rows[key_of({part: judged.run[part] for part in parts})].append(judged)
        ordered = sorted(rows.values(), key=lambda runs: [str(runs[0].run[part]) for part in parts])
        header = ("method", "distance", _SIZES[size], *_COLUMNS)
        different = what_differs([runs[0].run for runs in ordered])
        rows_of_table = [_row(runs, size) for runs in ordered]
        yield plain_table(header, rows_of_table, different, _title(tables[key][0]))


def same_data(sets: Sequence[CondensedSet]) -> list[list[CondensedSet]]:
    """Sets that are equal byte for byte together: they count once, with all that any of them scored."""
    copies: defaultdict[str, list[CondensedSet]] = defaultdict(list)
    for condensed in sets:
        copies[condensed.manifest["data"]["sha256"]].append(condensed)
    return [*copies.values()]


def what_differs(runs: Sequence[Manifest]) -> str:
    """The settings in which runs by the same method differ, row by row; nothing if there are none.

    Example:
        >>> near = {"method": "cat", "settings": {"start": "random", "hops": 1}}
        >>> far = {"method": "cat", "settings": {"start": "noise", "hops": 1}}
        >>> what_differs([near, far, {"method": "random", "settings": {"hops": 1}}])
        'settings that differ: start=random (row 1), start=noise (row 2)'
    """
    words = []
    for number, run in enumerate(runs, start=1):
        own = [f"{name}={value}" for name, value in apart(run, runs).items()]
        words += [f"{' '.join(own)} (row {number})"] if own else []
    return "settings that differ: " + ", ".join(words) if words else ""


def _title(judged: Judged) -> str:
    name = judged.run["source"]["name"]
    if not judged.scores:
        return f"{name}: not evaluated yet, run lqm evaluate"
    protocol = judged.scores[0]["protocol"]
    return f"{name}: {protocol['name']}, {protocol['epochs']} epochs, {protocol['network']}"


def _row(runs: list[Judged], size: str) -> tuple[str, ...]:
    first = runs[0].run
    numbers = ["-"] * 3
    scores = [score for judged in runs for score in judged.scores]
    if scores:
        means = [fmean(score["accuracy"] for score in judged.scores) for judged in runs]
        networks = [accuracy for score in scores for accuracy in score["accuracies"]]
        numbers = [
            f"{100 * fmean(means):.1f} ± {100 * pstdev(means if len(runs) > 1 else networks):.1f}",
            f"{fmean(score['before']['cramer_von_mises'] for score in scores):.3f}",
            f"{100 * fmean(score['before']['extremes'] for score in scores):.2f}",
        ]
    return (
        first["method"],
        first["distance"]["name"] if first["distance"] else "-",
        str(first[size]),
        f"{first['steps']:,}",
        str(len(runs)),
        *numbers,
        f"{fmean(judged.run['seconds'] for judged in runs):,.0f}",
    )
