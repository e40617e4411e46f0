"""The tables of a study, from its lines alone: scores, differences, and cells that failed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from statistics import fmean
from typing import Any

from lqm.evaluation.labels import key_of
from lqm.evaluation.paired import p_in_words
from lqm.evaluation.spread import Spread
from lqm.studies.layout import (
    COUNT,
    INTERVAL,
    NUMBERS,
    P_VALUE,
    PERCENT,
    POINTS,
    POINTS_SPREAD,
    SECONDS,
    SPREAD,
    TEXT,
    Column,
    Kind,
    Table,
    render,
)
from lqm.studies.lines import CellLine, Value, done
from lqm.studies.pairs import Comparison, comparisons, ordered
from lqm.utils.sentences import counted

__all__ = [
    "Cells",
    "all_tables",
    "cells_of",
    "difference_table",
    "facts",
    "failure_table",
    "render",
    "score_table",
]

TUNED = "Tuned settings were chosen on validation records, equally for every distance."


@dataclass(frozen=True)
class Cells:
    """The cells that differ by their seed alone."""

    lines: tuple[CellLine, ...]

    @property
    def axes(self) -> dict[str, Value]:
        """What tells them from all others."""
        return self.lines[0].axes

    @property
    def networks(self) -> list[str]:
        """The kinds of networks that evaluated them."""
        return [*dict.fromkeys(network for line in self.lines for network in line.scores)]

    def accuracy(self, network: str | None = None) -> Spread | None:
        """Over the seeds, by one kind of networks; None if that evaluated none of them."""
        own = [line for line in self.lines if network is None or network in line.scores]
        return Spread(tuple(line.accuracy(network) for line in own)) if own else None

    def baseline(self, name: str) -> Spread | None:
        """Over the seeds, the accuracy of networks that learn from real records; None where there is none."""
        own = tuple(fmean(line.baselines[name]) for line in self.lines if name in line.baselines)
        return Spread(own) if own else None

    @property
    def transfer(self) -> Spread | None:
        """Backward transfer over the seeds; None where there are no streams."""
        own = tuple(line.transfer for line in self.lines if line.transfer is not None)
        return Spread(own) if own else None

    def seconds(self, part: str = "condense") -> float | None:
        """Of one part, on average over the seeds; None where none was measured."""
        own = [line.seconds[part] for line in self.lines if part in line.seconds]
        return fmean(own) if own else None

    @property
    def paper(self) -> float | None:
        """The accuracy in percent that a paper reports."""
        return next((line.paper for line in self.lines if line.paper is not None), None)

    @property
    def tuned(self) -> str | None:
        """The settings that were chosen on validation records, in words."""
        words = (", ".join(f"{name}={value}" for name, value in line.tuned.items()) for line in self.lines)
        return "; ".join(dict.fromkeys(filter(None, words))) or None


def cells_of(lines: Sequence[CellLine]) -> list[Cells]:
    """The cells that have a score, put together where they differ by their seed alone."""
    groups: defaultdict[str, list[CellLine]] = defaultdict(list)
    for line in ordered(done(lines)):
        groups[key_of(line.axes)].append(line)
    return [Cells(tuple(own)) for own in groups.values()]


def score_table(lines: Sequence[CellLine]) -> Table:
    """A row for every combination of the axes, with mean and sample standard deviation over the seeds."""
    rows = cells_of(lines)
    column = partial(_column, rows)
    score = "AA %" if all(row.transfer for row in rows) else "accuracy %"
    kinds = [*dict.fromkeys(network for row in rows for network in row.networks)]
    baselines = dict.fromkeys(name for row in rows for line in row.lines for name in line.baselines)
    columns = (
        *axis_columns([row.axes for row in rows], last=lines[0].study.axis if lines else ""),
        *(
            column(score if len(kinds) == 1 else f"{score} by {kind}", methodcaller("accuracy", kind), SPREAD)
            for kind in kinds
        ),
        column("BWT", lambda row: row.transfer, POINTS_SPREAD),
        *(column(f"{name} %", methodcaller("baseline", name), SPREAD) for name in baselines),
        column("paper %", lambda row: row.paper, PERCENT),
        column("seeds", lambda row: len(row.lines), COUNT, folds=True),
        column("networks", lambda row: _several(line.networks for line in row.lines), NUMBERS, folds=True),
        column("seconds", lambda row: row.seconds(), SECONDS),
        column("bank seconds", lambda row: row.seconds("bank"), SECONDS),
        column("tuned", lambda row: row.tuned),
        column("protocol", lambda row: _several(line.protocol for line in row.lines), folds=True),
    )
    return Table(_title("Scores", lines), columns, tuple(_score_notes(rows, lines)))


def difference_table(found: Sequence[Comparison], title: str = "Differences") -> Table:
    """A row for every comparison: mean difference, intervals, p-values and verdict."""
    column = partial(_column, found)
    columns = (
        *axis_columns([each.group for each in found]),
        column(found[0].axis if found else "side", lambda each: each.side),
        column("against", lambda each: each.against, folds=True),
        column("difference", lambda each: each.paired.mean, POINTS),
        column("95 % interval (t)", lambda each: each.paired.interval, INTERVAL),
        column("95 % interval (bootstrap)", lambda each: each.paired.bootstrap, INTERVAL),
        column("pairs", lambda each: each.paired.pairs, COUNT, folds=True),
        column("p", lambda each: each.paired.p, P_VALUE),
        column("p (Holm)", lambda each: each.holm, P_VALUE),
        column("verdict", lambda each: each.paired.verdict),
    )
    if not found:
        return Table(title, columns)
    most = max((each.paired for each in found), key=lambda paired: paired.pairs)
    note = (
        "Differences are in points of accuracy, one a seed. p is that of the exact test which flips their "
        f"signs ({counted(most.pairs, 'pair', 'pairs')} can't give less than {p_in_words(most.least_p)}); "
        "Holm's rule is over all comparisons of the study. The verdict is that of the t interval."
    )
    return Table(title, columns, (note,))


def failure_table(lines: Sequence[CellLine]) -> Table:
    """The cells that failed, with their sentences."""
    failed = [line for line in lines if line.state == "failed"]
    columns = (
        Column("cell", tuple(line.cell for line in failed)),
        Column("seed", tuple(line.seed for line in failed), COUNT),
        Column("sentence", tuple(line.sentence for line in failed)),
    )
    return Table("Cells that failed", columns)


def all_tables(lines: Sequence[CellLine]) -> list[Table]:
    """The three of them, as far as they have rows."""
    tables = (score_table(lines), difference_table(comparisons(lines)), failure_table(lines))
    return [table for table in tables if len(table)]


def facts(lines: Sequence[CellLine]) -> dict[str, str]:
    """What the numbers of a study depend on, by name: as far as it is known, in words."""
    by_name = {
        "scale": (line.study.scale for line in lines),
        "protocol": (line.protocol for line in lines),
        "threads": (line.environment.get("threads", "") for line in lines),
        "commit": (line.commit[:12] for line in lines),
        "machine": (line.environment.get("machine", "") for line in lines),
        "torch": (line.environment.get("torch", "") for line in lines),
    }
    return {name: words for name, values in by_name.items() if (words := _several(values))}


def axis_columns(every: Sequence[dict[str, Value]], last: str = "") -> list[Column]:
    """A column for each axis that any row has, the compared one after the others."""
    names = sorted(dict.fromkeys(name for axes in every for name in axes), key=lambda name: name == last)
    return [
        Column(name.replace("_", " "), tuple(axes.get(name) for axes in every), folds=True) for name in names
    ]


def _column(
    rows: Sequence[Any], name: str, value: Callable[[Any], Any], kind: Kind = TEXT, *, folds: bool = False
) -> Column:
    return Column(name, tuple(map(value, rows)), kind, folds)


def _score_notes(rows: Sequence[Cells], lines: Sequence[CellLine]) -> Iterator[str]:
    if any(row.transfer for row in rows):
        yield "AA is the average accuracy after the last task; BWT is the backward transfer, in points."
    if any(len(row.lines) > 1 for row in rows):
        yield "± is the sample standard deviation over seeds."
    if any(row.seconds("bank") for row in rows):
        yield "Seconds are those of condensing; those of the bank are shared by the cells that use it."
    elif any(row.seconds() for row in rows):
        yield "Seconds are those of condensing."
    if any(row.tuned for row in rows):
        yield TUNED
    known = [f"{name} {words}" for name, words in facts(lines).items() if name != "protocol"]
    if known:
        yield f"Measured with {', '.join(known)}."


def _title(what: str, lines: Sequence[CellLine]) -> str:
    names = _several(line.study.name for line in lines)
    return f"{what} of the study {names}" if names else what


def _several(values: Iterable[object]) -> str | None:
    """Values in words, each once, without those that are not known."""
    return " / ".join(dict.fromkeys(filter(None, map(str, values)))) or None
