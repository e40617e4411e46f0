"""The differences of pairs on a page, where it has several condensation seeds or repeats."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.cases import Case
from lqm.evaluation.comparison import comparisons
from lqm.evaluation.contrasts import COLUMNS, NOTE, Side, contrasts, least_ps
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
        {"title": title, "rows": [each.cells for each in found], "least": least_ps(found)}
        for title, sides in titled
        if (found := contrasts(sides))
    ]
    return {"columns": COLUMNS, "note": NOTE, "tables": tables} if tables else None
