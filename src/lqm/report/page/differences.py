"""The differences of pairs on a page, where it has several condensation seeds or repeats."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.cases import Case
from lqm.evaluation.comparison import comparisons
from lqm.evaluation.contrasts import COLUMNS, NOTE, Contrast, Side, contrasts, least_ps
from lqm.evaluation.paired import interval_in_words
from lqm.evaluation.spread import in_points
from lqm.evaluation.streams import StreamRun, stream_sides


def differences_of_sets(cases: Sequence[Case]) -> dict[str, Any] | None:
    """A table for each protocol; None without pairs."""
    found = comparisons([case.condensed for case in cases])
    return _tables([(each.title, [repeats.side for repeats in each.repeats]) for each in found])


def differences_of_streams(streams: Sequence[StreamRun]) -> dict[str, Any] | None:
    """A table of the average accuracy after the last task; None without pairs."""
    return _tables([("AA", stream_sides({stream.folder: stream.result for stream in streams}))])


def _tables(titled: Sequence[tuple[str, list[Side]]]) -> dict[str, Any] | None:
    tables = [
        {
            "title": title,
            "rows": [each.cells for each in found],
            "least": least_ps(found),
            "pairs": [_drawn(each) for each in found],
        }
        for title, sides in titled
        if (found := contrasts(sides))
    ]
    return {"columns": COLUMNS, "note": NOTE, "tables": tables} if tables else None


def _drawn(found: Contrast) -> dict[str, Any]:
    """A row of the chart: every pair, their mean and its intervals, in points."""
    paired = found.paired
    return {
        "name": f"{found.side} less {found.against}",
        "each": [100 * difference for difference in paired.differences],
        "mean": 100 * paired.mean,
        "interval": in_percent(paired.interval),
        "bootstrap": in_percent(paired.bootstrap),
        "shown": f"{in_points(paired.mean)} {interval_in_words(paired.interval)}",
        "verdict": paired.verdict,
    }


def in_percent(interval: tuple[float, float] | None) -> list[float] | None:
    """An interval in points of a percent, ready for JSON."""
    return interval and [100 * end for end in interval]
