"""The tables of a study, from its lines alone: scores, differences, and cells that failed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import methodcaller
from typing import Any

from lqm.evaluation.labels import key_of
from lqm.evaluation.paired import p_in_words
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
from lqm.studies.lines import ARM, CellLine, StudyHead, Value, without
from lqm.studies.pairs import CLASSIFIER, Comparison, comparisons
from lqm.studies.seeds import Cells, cells_of
from lqm.utils.sentences import counted

__all__ = ["all_tables", "difference_table", "fact_notes", "facts", "failure_table", "render", "score_table"]

TUNED = "Tuned settings were chosen on validation records"


def score_table(lines: Sequence[CellLine], *, with_facts: bool = True) -> Table:
    """A row for every combination of the axes, with mean and sample standard deviation over the seeds.

    Without `facts`, which then stand elsewhere, it does not say how it was measured.
    """
    rows = cells_of(lines)
    column = partial(_column, rows)
    methods = bool(lines) and counts_training(lines[0].study)
    costs = (
        column("CPU seconds", lambda row: row.seconds("cpu"), SECONDS),
        column("evaluation seconds", lambda row: row.seconds("evaluate"), SECONDS),
        column("peak MB", lambda row: row.memory and round(row.memory / 1e6), COUNT),
    )
    baselines = dict.fromkeys(name for row in rows for line in row.lines for name in line.baselines)
    protocol = column("protocol", lambda row: _several(map(_protocol_name, row.lines)), folds=True)
    columns = (
        *axis_columns([row.axes for row in rows], last=lines[0].study.axis if lines else ""),
        *_accuracy_columns(rows),
        column("BWT", lambda row: row.transfer, POINTS_SPREAD),
        *(column(f"{name} %", methodcaller("baseline", name), SPREAD) for name in baselines),
        column("paper %", lambda row: row.paper, PERCENT),
        column("seeds", lambda row: len(row.lines), COUNT, folds=True),
        column("networks", lambda row: _several(line.networks for line in row.lines), NUMBERS, folds=True),
        column("seconds", lambda row: row.seconds(), SECONDS),
        column("bank seconds", lambda row: row.seconds("bank"), SECONDS),
        *(costs if methods else ()),
        column("tuned", lambda row: row.tuned),
        *([protocol] if with_facts or len({*protocol.values}) > 1 else []),
    )
    notes = (*_score_notes(rows, lines), *(fact_notes(lines) if with_facts else ()))
    return Table(_title("Scores", lines), columns, notes)


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
        column("also differ in", lambda each: ", ".join(each.unlike) or None),
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
        "protocol": map(_protocol, lines),
        "threads": (line.environment.get("threads", "") for line in lines),
        "commit": (line.commit[:12] for line in lines),
        "machine": (line.environment.get("machine", "") for line in lines),
        "torch": (line.environment.get("torch", "") for line in lines),
    }
    return {name: words for name, values in by_name.items() if (words := _several(values))}


def counts_training(head: StudyHead) -> bool:
    """Whether the seconds of training on a set belong to its cost.

    They do where methods are compared: in the seconds of a condensation, one may train on many more real
    records.
    """
    return head.axis in ("method", ARM)


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


def _accuracy_columns(rows: Sequence[Cells]) -> list[Column]:
    """A column for each kind of network; one for all where each row has but one kind.

    The kind has a column too, unless it is an axis.
    """
    score = "AA %" if all(row.transfer for row in rows) else "accuracy %"
    if all(len(row.networks) == 1 for row in rows):
        accuracy = _column(rows, score, methodcaller("accuracy"), SPREAD)
        if all(row.axes.get(CLASSIFIER) == row.networks[0] for row in rows):
            return [accuracy]
        return [_column(rows, "network", lambda row: row.networks[0], folds=True), accuracy]
    kinds = dict.fromkeys(network for row in rows for network in row.networks)
    return [_column(rows, f"{score} by {kind}", methodcaller("accuracy", kind), SPREAD) for kind in kinds]


def _score_notes(rows: Sequence[Cells], lines: Sequence[CellLine]) -> Iterator[str]:
    if any(row.transfer for row in rows):
        yield "AA is the average accuracy after the last task; BWT is the backward transfer, in points."
    if any(len(row.lines) > 1 for row in rows):
        yield "± is the sample standard deviation over seeds."
    if any(row.seconds("bank") for row in rows):
        yield "Seconds are those of condensing; those of the bank are shared by the cells that use it."
    elif any(row.seconds() for row in rows):
        yield "Seconds are those of condensing."
    if lines and counts_training(lines[0].study) and any(row.memory for row in rows):
        yield "Peak MB is the most memory that the process had while it condensed, with all it had loaded."
    if any(row.tuned for row in rows):
        axis = rows[0].lines[0].study.axis
        sides = {(key_of(without(row.axes, axis)), row.tuned is None) for row in rows}
        equally = len(sides) == len({group for group, _ in sides})
        yield f"{TUNED}, equally for every {axis}." if equally else f"{TUNED}; not all cells were tuned."


def fact_notes(lines: Sequence[CellLine]) -> Iterator[str]:
    """The facts as sentences."""
    known = facts(lines)
    if protocol := known.pop("protocol", None):
        yield f"Protocol: {protocol}."
    if known:
        yield f"Measured with {', '.join(f'{name} {words}' for name, words in known.items())}."


def _protocol(line: CellLine) -> str:
    """The protocol in words, without what its own deviation is over: here it is over seeds."""
    return line.protocol.partition(", mean ±")[0]


def _protocol_name(line: CellLine) -> str:
    return _protocol(line).partition(":")[0]


def _title(what: str, lines: Sequence[CellLine]) -> str:
    names = _several(line.study.name for line in lines)
    return f"{what} of the study {names}" if names else what


def _several(values: Iterable[object]) -> str | None:
    """Values in words, each once, without those that are not known."""
    return " / ".join(dict.fromkeys(filter(None, map(str, values)))) or None
