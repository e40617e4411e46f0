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
    return _tables({each.title: [repeats.side for repeats in each.repeats] for each in found})


def differences_of_streams(streams: Sequence[StreamRun]) -> dict[str, Any] | None:
    """A table of the average accuracy after the last task; None without pairs."""
    return _tables({"AA": stream_sides({stream.folder: stream.result for stream in streams})})


def _tables(by_title: dict[str, list[Side]]) -> dict[str, Any] | None:
    found = {title: contrasts(sides) for title, sides in by_title.items()}
    tables = [
        {"title": title, "rows": [each.cells for each in own], "least": least_ps(own)}
        for title, own in found.items()
        if own
    ]
    return {"columns": COLUMNS, "note": NOTE, "tables": tables} if tables else None
