"""What sets scored beside random, herded and all real records, one way of judging at a time."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lqm.latents import LatentMatch
from lqm.report.cases import Case
from lqm.report.records import key_of
from lqm.scores import Accuracies, Protocol

Entry = dict[str, Any]


@dataclass(frozen=True)
class Bar(Accuracies):
    """What networks trained on one set found.

    Attributes:
        name: the case's label, or that of a set of real records.
        case: its number among the cases; None for real records.
        records: how many the networks were trained on.
        accuracies: of each network, of all evaluation seeds.
        by_class: share of right answers of each class; empty if it was not noted.
        before: how well the latent distributions are kept under the networks before their training.
        after: and after it.
    """

    name: str
    case: int | None
    records: int
    accuracies: tuple[float, ...]
    by_class: tuple[float | None, ...]
    before: LatentMatch
    after: LatentMatch

    @property
    def rule(self) -> str | None:
        """How real records were chosen: `random`, `herding`, `full`, ...; None for a case."""
        return self.name.split(",")[0] if self.case is None else None


@dataclass(frozen=True)
class Standing:
    """All that was judged in one way.

    Attributes:
        protocol: how.
        bars: the cases that were, and the real records beside them, from the least accurate on.
        seeds: of the evaluations.
        paired: whether all cases were judged by these, so that network j of each began as the same.
    """

    protocol: Protocol
    bars: list[Bar]
    seeds: tuple[int, ...] = (0,)
    paired: bool = True

    def of_case(self, number: int) -> Bar | None:
        """What a case scored, if it was judged in this way."""
        return next((bar for bar in self.bars if bar.case == number), None)

    def real(self, name: str) -> list[Bar]:
        """What real records chosen in one way scored, a bar a size."""
        return [bar for bar in self.bars if bar.rule == name]

    @property
    def full(self) -> Bar | None:
        """What all real records scored, if that was measured."""
        return next(iter(self.real("full")), None)


def standings(cases: Sequence[Case]) -> list[Standing]:
    """One for each way in which a case was judged, the first of which is to be looked at first.

    Where cases were judged by several evaluation seeds, those count that all of them have in common; all
    real records have their score by the others if it is by none of these.
    """
    judged: defaultdict[str, list[tuple[int, Entry]]] = defaultdict(list)
    for number, case in enumerate(cases):
        for entry in case.manifest.get("scores", []):
            judged[key_of(entry["protocol"])].append((number, entry))
    own = [key_of(case.manifest.get("evaluation")) for case in cases]
    found = {way: _standing(cases, entries) for way, entries in judged.items()}
    return [found[way] for way in sorted(found, key=lambda way: _rank(found[way], way in own))]


def _rank(standing: Standing, asked_for: bool) -> tuple[int, bool, bool]:
    """Ways that judged more cases come first; of these the one that the sets ask for, then one with full."""
    return -sum(bar.case is not None for bar in standing.bars), not asked_for, standing.full is None


def _standing(cases: Sequence[Case], every: Sequence[tuple[int, Entry]]) -> Standing:
    protocol = cases[0].kind.read_protocol(**every[0][1]["protocol"])
    seeds = [{entry["seed"] for own, entry in every if own == number} for number in {own for own, _ in every}]
    paired = bool(set.intersection(*seeds))
    shared = set.intersection(*seeds) if paired else set.union(*seeds)
    found = [(number, entry) for number, entry in every if entry["seed"] in shared]
    bars = []
    for number in dict.fromkeys(number for number, _ in found):
        entries = sorted((entry for own, entry in found if own == number), key=lambda entry: entry["seed"])
        bars.append(_bar(cases[number].label, number, entries))
    full = {key: scores for key, scores in _real(every).items() if key[0] == "full"}
    real = full | _real(found)
    sizes = {name: sum(other == name for other, _ in real) for name, _ in real}
    taken = {case.label for case in cases}
    for (name, records), by_seed in real.items():
        label = name if sizes[name] == 1 else f"{name}, {records:,}"
        label = f"{label}, baseline" if label in taken else label
        bars.append(_bar(label, None, list(by_seed.values())))
    return Standing(protocol, sorted(bars, key=lambda bar: bar.accuracy), tuple(sorted(shared)), paired)


def _real(found: Sequence[tuple[int, Entry]]) -> dict[tuple[str, int], dict[int, Entry]]:
    """What real records scored: by their choice and number, and then by evaluation seed."""
    real: defaultdict[tuple[str, int], dict[int, Entry]] = defaultdict(dict)
    for _, entry in found:
        for name, score in entry.get("baselines", {}).items():
            real[name, score["records"]][entry["seed"]] = score
    return real


def _bar(name: str, case: int | None, entries: Sequence[Entry]) -> Bar:
    shares = [entry["by_class"] for entry in entries if entry.get("by_class")]
    return Bar(
        name,
        case,
        entries[0]["records"],
        tuple(accuracy for entry in entries for accuracy in entry["accuracies"]),
        tuple(None if column[0] is None else fmean(column) for column in zip(*shares, strict=True)),
        _mean([entry["before"] for entry in entries]),
        _mean([entry["after"] for entry in entries]),
    )


def _mean(matches: Sequence[Entry]) -> LatentMatch:
    by_network = [match.get("by_network", []) for match in matches]
    return LatentMatch(
        fmean(match["cramer_von_mises"] for match in matches),
        fmean(match["extremes"] for match in matches),
        tuple(statistic for own in by_network for statistic in own) if all(by_network) else (),
    )
