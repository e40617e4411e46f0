"""What networks scored, protocol by protocol: charts and tables of accuracies and confusions."""

from collections.abc import Sequence
from typing import Any

from lqm.evaluation.cases import Case
from lqm.evaluation.labels import mosaics_of
from lqm.evaluation.markdown import percent
from lqm.evaluation.standing import Bar, Standing
from lqm.report.page.confusion import confusion

Content = dict[str, Any]


def standing_table(found: Standing, cases: Sequence[Case]) -> Content:
    """What the template shows of one way to evaluate."""
    full = found.full
    return {
        "name": f"{found.protocol.name}: {found.protocol.kind}{seeds_in_words(found)}",
        "protocol": found.protocol.in_words(full.records if full else None) + seeds_in_words(found),
        "full": full is not None,
        "evaluated": [found.of_case(number) for number in range(len(cases))],
        "spoken": ", ".join(f"{bar.name} {percent(bar.accuracy)} %" for bar in reversed(found.bars)),
        "rows": [
            {
                "name": bar.name,
                "records": _size(bar, cases),
                "networks": len(bar.accuracies),
                "accuracy": bar.spread.percent(),
                "cvm": [match.statistic.shown(3) for match in (bar.before, bar.after)],
                "extremes": [f"{100 * match.extremes:.2f}" for match in (bar.before, bar.after)],
                "by_class": [percent(share) for share in bar.by_class],
            }
            for bar in reversed(found.bars)
        ],
        "confusion": confusion(found, cases),
        "missing": [case.label for number, case in enumerate(cases) if found.of_case(number) is None],
    }


def seeds_in_words(found: Standing) -> str:
    """Which evaluation seeds were put together, if there are several."""
    if len(found.seeds) == 1:
        return ""
    seeds = ", ".join(map(str, found.seeds))
    return f"; seeds {seeds} together" if found.paired else f"; each set by its own of the seeds {seeds}"


def _size(bar: Bar, cases: Sequence[Case]) -> str:
    """How many records a network was trained on, and of how many mosaics they are cells."""
    mosaics = None if bar.case is None else mosaics_of(cases[bar.case].condensed)
    return f"{mosaics:,} mosaics = {bar.records:,}" if mosaics else f"{bar.records:,}"


def standing_bars(found: Standing, cases: Sequence[Case]) -> list[Content]:
    """What the charts of accuracies are drawn from."""
    return [
        {
            "name": bar.name,
            "case": bar.case,
            "size": "" if bar.name.endswith(f", {bar.records:,}") else f" ({_size(bar, cases)})",
            "shown": bar.spread.percent(),
            "accuracy": bar.accuracy,
            "deviation": bar.deviation,
            "accuracies": bar.accuracies,
            "byClass": bar.by_class,
        }
        for bar in reversed(found.bars)
    ]
