"""From runs and streams to the entries of `lqm compare`."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

from lqm.cli.documents.base import DifferenceEntry, SpreadEntry
from lqm.cli.documents.listings import ComparedEntry, ComparisonEntry
from lqm.condensed import CondensedSet
from lqm.evaluation.comparison import Comparison, Repeats
from lqm.evaluation.contrasts import Side, contrasts
from lqm.evaluation.labels import distance_of
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import Result, stream_sides, stream_title
from lqm.report.comparison import ordered_comparisons, ordered_repeats, streams_by_tasks


def set_entries(sets: Sequence[CondensedSet]) -> list[ComparisonEntry]:
    """The tables of `comparison_tables`."""
    return [
        ComparisonEntry(
            title=found.title,
            source=found.source,
            protocol=found.protocol["name"] if found.protocol else None,
            rows=[_row(repeats, found) for repeats in ordered_repeats(found)],
            differences=_differences([repeats.side for repeats in ordered_repeats(found)]),
        )
        for found in ordered_comparisons(sets)
    ]


def stream_entries(folders: Sequence[Path]) -> list[ComparisonEntry]:
    """The tables of `stream_tables`."""
    return [
        ComparisonEntry(
            title=stream_title(next(iter(results.values()))),
            source=next(iter(results.values()))["config"]["source"]["name"],
            protocol=None,
            rows=[_stream_row(folder, result) for folder, result in results.items()],
            differences=_differences(stream_sides(results)),
        )
        for results in streams_by_tasks(folders)
    ]


def _differences(sides: Sequence[Side]) -> list[DifferenceEntry]:
    return [DifferenceEntry.of(each.side, each.against, each.paired, each.holm) for each in contrasts(sides)]


def _row(repeats: Repeats, found: Comparison) -> ComparedEntry:
    evaluated = bool(found.protocol)
    return ComparedEntry(
        folders=[str(condensed.path) for condensed in repeats.sets],
        method=repeats.manifest["method"],
        distance=repeats.distance,
        budget=repeats.budget,
        steps=repeats.manifest["steps"],
        seconds=fmean(condensed.manifest["seconds"] for condensed in repeats.sets),
        accuracy=SpreadEntry.of(repeats.accuracy) if evaluated else None,
        cramer_von_mises=repeats.cramer_von_mises("before").mean if evaluated else None,
        extremes=repeats.extremes("before").mean if evaluated else None,
        backward_transfer=None,
    )


def _stream_row(folder: Path, result: Result) -> ComparedEntry:
    config, seconds = result["config"], result["seconds"]
    average, transfer = (
        SpreadEntry.of(Spread(tuple(spread["each"]))) if spread else None
        for spread in (result["average_accuracy"], result["backward_transfer"])
    )
    return ComparedEntry(
        folders=[str(folder)],
        method=config["method"],
        distance=distance_of(config),
        budget=config["budget"],
        steps=None,
        seconds=fmean(seconds["memory"]) + fmean(seconds["learning"]),
        accuracy=average,
        cramer_von_mises=None,
        extremes=None,
        backward_transfer=transfer,
    )
