"""The page of a study: its answer, its differences, its scores, and what they cost."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from statistics import fmean, geometric_mean
from typing import Any

from lqm.evaluation.labels import key_of
from lqm.evaluation.paired import interval_in_words
from lqm.evaluation.spread import in_points
from lqm.report.page.answer import Answer, Line
from lqm.report.page.banner import Verdict
from lqm.report.page.content import Content, Page
from lqm.report.page.differences import in_percent
from lqm.studies.layout import Table
from lqm.studies.lines import CellLine, StudyHead, Value, done, without
from lqm.studies.pairs import Comparison, answers, comparisons, group_in_words
from lqm.studies.seeds import Cells, cells_of
from lqm.studies.tables import (
    counts_training,
    difference_table,
    facts,
    failure_table,
    score_table,
)
from lqm.utils.sentences import counted
from lqm.utils.terminal import visible

_BUDGETS = {"per_class": "records a class", "budget": "nodes"}


def page_of_study(lines: Sequence[CellLine]) -> Page:
    """Everything about the cells of a study, of which there is at least one."""
    lines = [CellLine(**_visible(asdict(line))) for line in lines]
    head = lines[0].study
    found, rows = comparisons(lines), cells_of(lines)
    sides = [*dict.fromkeys(side for row in rows if (side := _side(row)) is not None)]
    panels = [*_panels(rows, head, sides)]
    variables = {
        "title": head.title or head.name,
        "lead": _lead(lines),
        "verdicts": [Verdict("plain", line) for line in answers(found) or ["Nothing can be compared yet"]],
        "answers": [*_answers(found, rows, sides)],
        "cases": [{"label": side} for side in sides],
        "compared": [side != head.against for side in sides],
        "against": head.against,
        "facts": {"study": head.name, "compared": head.axis} | facts(lines),
        "differences": _shown(difference_table(found)),
        "scores": _shown(score_table(lines, with_facts=False)),
        "failed": _shown(failure_table(lines)),
        "panels": panels,
        "commands": [(line.cell, line.command) for line in lines if line.command],
    }
    data = {
        "labels": sides,
        "forest": [*_forest(found, sides)],
        "panels": panels,
        "against": head.against,
    }
    return Page("study.html.j2", variables, data)


def _lead(lines: Sequence[CellLine]) -> str:
    seeds = counted(len({line.seed for line in lines}), "seed", "seeds")
    failed = sum(line.state == "failed" for line in lines)
    rest = f"; {counted(failed, 'cell has', 'cells have')} failed" if failed else ""
    return f"{counted(len(done(lines)), 'cell', 'cells')}, {seeds}{rest}."


def _answers(found: Sequence[Comparison], rows: Sequence[Cells], sides: Sequence[str]) -> Iterator[Answer]:
    gains: defaultdict[str, list[float]] = defaultdict(list)
    for each in found:
        gains[str(each.side)].append(each.paired.mean)
    if gains:
        lines = [
            Line(
                sides.index(side),
                in_points(fmean(own)),
                f"points, from {in_points(min(own))} to {in_points(max(own))}",
            )
            for side, own in gains.items()
        ]
        note = (
            f"The mean over all comparisons with {found[0].against}, and the least and the most of them. The "
            "comparisons are of different data and sizes: look at each of them below."
        )
        yield Answer("By how much?", lines, note)
    ratios = _cost_ratios(rows)
    if ratios:
        lines = [Line(sides.index(side), f"{ratio:.2f}", "times") for side, ratio in ratios.items()]
        head = rows[0].lines[0].study
        note = f"Seconds of {_what_costs(head)}, beside {head.against}; geometric mean."
        yield Answer("What does it cost?", lines, note)


def _side(row: Cells) -> str | None:
    """The value of the compared axis; None where the cells have none."""
    side = row.axes.get(row.lines[0].study.axis)
    return None if side is None else str(side)


def _cost(row: Cells) -> float:
    """Seconds of condensing, and of training where that counts."""
    training = counts_training(row.lines[0].study)
    return (row.seconds() or 0) + ((row.seconds("evaluate") or 0) if training else 0)


def _what_costs(head: StudyHead) -> str:
    return "condensing and evaluating" if counts_training(head) else "condensing"


def _cost_ratios(rows: Sequence[Cells]) -> dict[str, float]:
    """The cost of each side over that of what it is compared with, where all else is alike."""
    groups: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in rows:
        side, cost = _side(row), _cost(row)
        if side is not None and cost:
            groups[key_of(without(row.axes, row.lines[0].study.axis))][side] = cost
    ratios: defaultdict[str, list[float]] = defaultdict(list)
    against = rows[0].lines[0].study.against if rows else ""
    for own in groups.values():
        for side in own:
            if side != against and against in own:
                ratios[side].append(own[side] / own[against])
    return {side: geometric_mean(own) for side, own in ratios.items()}


def _forest(found: Sequence[Comparison], sides: Sequence[str]) -> Iterator[Content]:
    """The comparisons by what their sides share."""
    for words, own in groupby(found, key=lambda each: group_in_words(each.group)):
        yield {
            "group": words,
            "rows": [
                {
                    "case": sides.index(str(each.side)),
                    "mean": 100 * each.paired.mean,
                    "interval": in_percent(each.paired.interval),
                    "bootstrap": in_percent(each.paired.bootstrap),
                    "shown": f"{in_points(each.paired.mean)} {interval_in_words(each.paired.interval)}",
                    "verdict": each.paired.verdict,
                    "pairs": each.paired.pairs,
                }
                for each in own
            ],
        }


def _panels(rows: Sequence[Cells], head: StudyHead, sides: Sequence[str]) -> Iterator[Content]:
    """Accuracy against seconds and against the budget: a pair of charts for cells that share all else."""
    groups: defaultdict[tuple[str, str], list[Content]] = defaultdict(list)
    for row in rows:
        side = _side(row)
        if side is None:
            continue
        budget, unit = _budget_of(row.axes)
        score = row.accuracy()
        assert score is not None
        groups[group_in_words(without(row.axes, head.axis, *_BUDGETS)), unit].append(
            {
                "case": sides.index(side),
                "accuracy": 100 * score.mean,
                "deviation": None if score.deviation is None else 100 * score.deviation,
                "shown": score.percent(),
                "seconds": _cost(row),
                "budget": budget,
            }
        )
    for (words, unit), points in groups.items():
        budgets = {point["budget"] for point in points} - {None}
        seconds = any(point["seconds"] for point in points)
        if seconds or len(budgets) > 1:
            yield {
                "title": words or "all cells",
                "unit": unit,
                "points": points,
                "budgets": len(budgets) > 1,
                "seconds": seconds,
                "of": _what_costs(head),
            }


def _budget_of(axes: dict[str, Value]) -> tuple[float | None, str]:
    """The size of a condensed set as a number, and its unit; no number where the cell has no budget."""
    for name, unit in _BUDGETS.items():
        word = str(axes.get(name, ""))
        share = word.endswith("%")
        try:
            number = float(word.removesuffix("%"))
        except ValueError:
            continue
        return (number, "% of the nodes" if share else unit) if 0 < number < float("inf") else (None, "")
    return None, ""


def _shown(table: Table) -> dict[str, Any] | None:
    """A table as the template draws it; None if it has no rows."""
    return table.laid_out()._asdict() | {"note": " ".join(table.notes)} if len(table) else None


def _visible(value: Any) -> Any:
    """The same with every character that would not be seen written as its escape."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): _visible(part) for name, part in value.items()}
    return value
