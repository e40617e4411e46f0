"""What sets scored beside random, herded and all real records, one protocol at a time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from lqm.evaluation.cases import Case
from lqm.evaluation.labels import key_of
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.scores import Score, together
from lqm.evaluation.table import CONDENSED, ScoreRow, read_scores


@dataclass(frozen=True, kw_only=True)
class Bar(Score):
    """The score of one training set over all evaluation seeds.

    Attributes:
        name: the case's label, or that of a set of real records.
        case: its number among the cases; None for real records.
        training_set: `condensed`, or how real records were chosen.
    """

    name: str
    case: int | None = None
    training_set: str = CONDENSED


@dataclass(frozen=True)
class Standing:
    """All that was evaluated in one way.

    Attributes:
        bars: the cases that were, and the real records beside them, from the least accurate on.
        seeds: of the evaluations.
        paired: whether all cases were evaluated by these, so that network j of each began as the same.
    """

    protocol: Protocol
    bars: list[Bar]
    seeds: tuple[int, ...] = (0,)
    paired: bool = True

    def of_case(self, number: int) -> Bar | None:
        """What a case scored, if it was evaluated in this way."""
        return next((bar for bar in self.bars if bar.case == number), None)

    def real(self, name: str) -> list[Bar]:
        """What real records chosen in one way scored, a bar a size."""
        return [bar for bar in self.bars if bar.training_set == name]

    @property
    def full(self) -> Bar | None:
        """What all real records scored, if that was measured."""
        return next(iter(self.real("full")), None)


def standings(cases: Sequence[Case]) -> list[Standing]:
    """One for each way in which a case was evaluated, the first of which is to be shown first.

    Where cases were evaluated by several seeds, those count that all of them have in common; all real
    records have their score by the others if it is by none of these.
    """
    ways: defaultdict[str, list[ScoreRow]] = defaultdict(list)
    for row in read_scores(case.condensed for case in cases):
        ways[row.way].append(row)
    own = [key_of(case.manifest.get("evaluation")) for case in cases]
    by_way = {way: _standing(cases, rows) for way, rows in ways.items()}
    return [by_way[way] for way in sorted(by_way, key=lambda way: _rank(by_way[way], way in own))]


def _rank(standing: Standing, requested: bool) -> tuple[int, bool, bool]:
    """Ways with more cases come first; of these the one that the sets ask for, then one with full."""
    return -sum(bar.case is not None for bar in standing.bars), not requested, standing.full is None


def _standing(cases: Sequence[Case], every: Sequence[ScoreRow]) -> Standing:
    by_case: defaultdict[int, dict[int, ScoreRow]] = defaultdict(dict)
    for row in every:
        if row.training_set == CONDENSED:
            by_case[row.number][row.evaluation_seed] = row
    common = set.intersection(*({*rows} for rows in by_case.values()))
    seeds = common or {row.evaluation_seed for row in every}
    bars = [
        _bar(cases[number].label, number, [rows[seed] for seed in sorted(rows) if seed in seeds])
        for number, rows in by_case.items()
    ]
    full = {key: rows for key, rows in _real(every).items() if key[0] == "full"}
    real = full | _real([row for row in every if row.evaluation_seed in seeds])
    sizes = [name for name, _ in real]
    taken = {case.label for case in cases}
    for (name, records), rows in real.items():
        label = name if sizes.count(name) == 1 else f"{name}, {records:,}"
        bars.append(_bar(f"{label}, baseline" if label in taken else label, None, [*rows.values()]))
    protocol = cases[0].evaluator.stored_protocol(every[0].protocol)
    return Standing(protocol, sorted(bars, key=lambda bar: bar.accuracy), tuple(sorted(seeds)), bool(common))


def _real(rows: Sequence[ScoreRow]) -> dict[tuple[str, int], dict[int, ScoreRow]]:
    """The rows of real records: by their choice and number, and then by evaluation seed."""
    real: defaultdict[tuple[str, int], dict[int, ScoreRow]] = defaultdict(dict)
    for row in rows:
        if row.training_set != CONDENSED:
            real[row.training_set, row.records][row.evaluation_seed] = row
    return real


def _bar(name: str, case: int | None, rows: Sequence[ScoreRow]) -> Bar:
    return Bar(**vars(together(rows)), name=name, case=case, training_set=rows[0].training_set)
