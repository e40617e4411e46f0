"""What the template of `docs/results.md` may ask of the lines of studies, by expressions."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from lqm.evaluation.paired import interval_in_words
from lqm.evaluation.spread import Spread, in_points
from lqm.studies.folder import read_results
from lqm.studies.layout import Table, render, seconds_in_words
from lqm.studies.lines import CellLine
from lqm.studies.pairs import Comparison, answers, comparisons
from lqm.studies.seeds import Cells, cells_of
from lqm.studies.tables import difference_table, failure_table, score_table
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import counted
from tools.across import table_across

Known = TypeVar("Known")


class Results:
    """What a template may ask of the lines in a folder.

    Attributes:
        forests: the figures that it asked for: their comparisons, by the name of their file.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lines = cache(self._read)
        self._comparisons: Callable[[str, str | None], list[Comparison]] = cache(
            lambda name, against: comparisons(self._lines(name), against)
        )
        self.forests: dict[str, list[Comparison]] = {}

    def scores(self, name: str, **filters: Any) -> str:
        """The table of scores of the cells that fit."""
        table = score_table(self._fitting(name, filters))
        return _table(_known(table if len(table) else None, name, filters))

    def across(self, axis: str, name: str, *, with_mean: bool = True, **filters: Any) -> str:
        """Accuracies of the cells that fit, with a column for each value of an axis."""
        table = table_across(self._fitting(name, filters), axis, with_mean=with_mean)
        return _table(_known(table if len(table) else None, name, filters | {"axis": axis}))

    def differences(self, name: str, **filters: Any) -> str:
        """The table of the comparisons that fit; Holm's rule is over all of the study."""
        return _table(difference_table(self._compared(name, filters)))

    def failures(self, name: str, **filters: Any) -> str:
        """The table of the cells that fit and failed; a sentence where there is none."""
        table = failure_table(self._fitting(name, filters))
        return _table(table) if len(table) else "No cell failed."

    def accuracy(self, name: str, network: str | None = None, **filters: Any) -> str:
        """Mean and deviation over the seeds, in percent."""
        cells = self._one(name, filters)
        return _known(cells.accuracy(network), name, filters | {"network": network}).percent()

    def transfer(self, name: str, **filters: Any) -> str:
        """Mean backward transfer over the seeds, in points."""
        return in_points(_known(self._one(name, filters).transfer, name, filters).mean)

    def baseline(self, kind: str, name: str, **filters: Any) -> str:
        """The accuracy of real records beside cells that differ by anything: the mean over all of them."""
        spreads = [cells.baseline(kind) for cells in cells_of(self._fitting(name, filters))]
        every = tuple(value for spread in spreads if spread for value in spread.each)
        return Spread(_known(every or None, name, filters | {"baseline": kind})).percent()

    def seconds(self, name: str, part: str = "condense", **filters: Any) -> str:
        """Mean seconds over the seeds: of `condense`, `evaluate` or the `bank`."""
        return seconds_in_words(
            _known(self._one(name, filters).seconds(part), name, filters | {"part": part})
        )

    def paper(self, name: str, **filters: Any) -> str:
        """The number that a paper reports for the cells."""
        return f"{_known(self._one(name, filters).paper, name, filters):.1f}"

    def difference(self, name: str, **filters: Any) -> str:
        """The mean of one comparison with its interval, in words."""
        paired = self._pair(name, filters).paired
        interval = f"95 % interval {interval_in_words(paired.interval)}, " if paired.interval else ""
        return f"{in_points(paired.mean)} points ({interval}{counted(paired.pairs, 'pair', 'pairs')})"

    def verdict(self, name: str, **filters: Any) -> str:
        """Of one comparison."""
        return self._pair(name, filters).paired.verdict

    def answer(self, name: str, **filters: Any) -> str:
        """In how many of the comparisons that fit each side is better, worse, or neither."""
        return "; ".join(answers(self._compared(name, filters)))

    def count(self, verdict: str, name: str, **filters: Any) -> str:
        """How many of the comparisons that fit have a verdict, of how many."""
        found = self._compared(name, filters)
        return f"{sum(each.paired.verdict == verdict for each in found)} of {len(found)}"

    def above(self, side: str, against: str, name: str, axis: str, **filters: Any) -> str:
        """In how many pairs of cells that differ along an axis alone, any axis, one side is above another."""
        lines = [replace(line, study=replace(line.study, axis=axis)) for line in self._fitting(name, filters)]
        found = [each.paired for each in comparisons(lines, against) if str(each.side) == side]
        every = [difference for paired in found for difference in paired.differences]
        return f"{sum(each > 0 for each in _known(every or None, name, filters))} of {len(every)}"

    def command(self, name: str, **filters: Any) -> str:
        """What makes the run of the first cell that fits again."""
        return _known(self._fitting(name, filters)[0].command or None, name, filters)

    def forest(self, name: str, **filters: Any) -> str:
        """A figure of the comparisons that fit."""
        stem = "-".join(["forest", name, *(re.sub(r"\W+", "-", str(value)) for value in filters.values())])
        self.forests[stem] = self._compared(name, filters)
        words = "; ".join(answers(self.forests[stem])) or "no comparison"
        return f"![Differences with their intervals: {words}](images/{stem}.svg)"

    def _read(self, name: str) -> list[CellLine]:
        path = self._folder / f"{name}.jsonl"
        if not path.is_file():
            known = ", ".join(sorted(file.stem for file in self._folder.glob("*.jsonl"))) or "none yet"
            raise ConfigError(f"there are no lines of a study '{name}'; there are those of: {known}")
        return read_results(path)

    def _fitting(self, name: str, filters: dict[str, Any]) -> list[CellLine]:
        return _filtered(self._lines(name), _named_by_line, name, filters)

    def _compared(self, name: str, filters: dict[str, Any]) -> list[Comparison]:
        every = self._comparisons(name, filters.get("against"))
        return _filtered(every, _named_by_comparison, name, filters)

    def _pair(self, name: str, filters: dict[str, Any]) -> Comparison:
        found = self._compared(name, filters)
        if len(found) > 1:
            raise ConfigError(f"{_asked(name, filters)} fits {len(found)} comparisons, where one is meant")
        return found[0]

    def _one(self, name: str, filters: dict[str, Any]) -> Cells:
        found = cells_of(self._fitting(name, filters))
        if len(found) != 1:
            raise ConfigError(f"{_asked(name, filters)} fits {len(found)} rows of scores, where one is meant")
        return found[0]


def _table(table: Table) -> str:
    return render(table, "md").rstrip("\n")


def _named_by_line(line: CellLine) -> dict[str, Any]:
    return line.axes | {"seed": line.seed, "scale": line.study.scale}


def _named_by_comparison(each: Comparison) -> dict[str, Any]:
    return each.group | {"side": each.side, "against": each.against, "verdict": each.paired.verdict}


def _filtered(
    every: Sequence[Any], named: Callable[[Any], dict[str, Any]], name: str, filters: dict[str, Any]
) -> list[Any]:
    """Those that have all values; a list of values stands for any of them."""
    wanted = {
        key: [*map(str, value)] if isinstance(value, list | tuple) else [str(value)]
        for key, value in filters.items()
    }
    for key in wanted:
        if not any(key in named(each) for each in every):
            raise ConfigError(f"{_asked(name, filters)}: nothing in the study has a '{key}'")
    found = [
        each for each in every if all(str(named(each).get(key)) in values for key, values in wanted.items())
    ]
    if not found:
        raise ConfigError(f"{_asked(name, filters)} fits nothing")
    return found


def _known(value: Known | None, name: str, filters: dict[str, Any]) -> Known:
    if value is None:
        raise ConfigError(f"{_asked(name, filters)}: the lines do not have it")
    return value


def _asked(name: str, filters: dict[str, Any]) -> str:
    words = ", ".join([f'"{name}"', *(f"{key}={value!r}" for key, value in filters.items())])
    return f"({words})"
