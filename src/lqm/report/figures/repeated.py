"""Runs that differ by their seed alone are one thing, with a spread."""

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Any, TypeVar

from lqm.report.cases import Case, distinct_labels
from lqm.report.records import key_of, scores_by_judging

Entry = dict[str, Any]
Place = TypeVar("Place", bound=Hashable)

_SIZES = ("per_class", "budget")
_MADE = ("method", "distance", "steps", "settings")


@dataclass(frozen=True)
class Repeated:
    """Runs that differ by their seed alone, and what one way of judging found of them.

    Attributes:
        cases: the runs.
        entries: of each run, its scores by all evaluation seeds.
    """

    cases: list[Case]
    entries: list[list[Entry]]

    @property
    def manifest(self) -> dict[str, Any]:
        """That of the first run; the others have another seed."""
        return self.cases[0].manifest

    @property
    def size(self) -> int:
        """The budget: records of each class, or nodes in all."""
        return int(next(self.manifest[name] for name in _SIZES if name in self.manifest))

    @property
    def distance(self) -> str:
        """Its name, or what stands in its place where nothing is matched."""
        found = self.manifest["distance"]
        return found["name"] if found else "none (real records)"

    def spread(
        self, number: Callable[[Entry], float], by_network: Callable[[Entry], Sequence[float]]
    ) -> tuple[float, float]:
        """Mean and deviation of a number, over runs where there are several, else over networks.

        The deviation is 0 where there is one run and the number is not known for each network.
        """
        means = [fmean(map(number, entries)) for entries in self.entries]
        networks = [found for entry in self.entries[0] for found in by_network(entry)]
        return fmean(means), pstdev(means if len(means) > 1 or not networks else networks)


@dataclass(frozen=True)
class Judging:
    """All that was judged in one way: its protocol as it was noted, and what was."""

    protocol: dict[str, Any]
    repeated: list[Repeated]


def judgings(cases: Sequence[Case]) -> list[Judging]:
    """One for each way in which sets of the same data were judged; copies of a set count once."""
    ways: defaultdict[str, defaultdict[str, list[tuple[Case, list[Entry]]]]]
    ways = defaultdict(lambda: defaultdict(list))
    copies: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases:
        copies[key_of([case.manifest["data"]["sha256"], _made(case), case.manifest["seed"]])].append(case)
    for first, *others in copies.values():
        for way, entries in scores_by_judging(case.manifest for case in (first, *others)).items():
            ways[way][key_of([_made(first), _sizes(first)])].append((first, entries))
    return [
        Judging(
            json.loads(way),
            [Repeated([case for case, _ in runs], [noted for _, noted in runs]) for runs in found.values()],
        )
        for way, found in ways.items()
    ]


def deviation_over(several: bool, networks: bool) -> str:
    """What deviations are over, in words; nothing where there are none.

    Args:
        several: whether there are runs that differ by their seed alone.
        networks: whether a single run has its deviation over networks.

    Example:
        >>> deviation_over(True, False), deviation_over(False, True), deviation_over(False, False)
        ('deviation over runs that differ by seed alone', 'deviation over networks', '')
    """
    if several:
        return "deviation over runs that differ by seed alone" + ", of a single one over networks" * networks
    return "deviation over networks" * networks


def error_bars(several: bool, networks: bool) -> str:
    """The end of a title: what its error bars are, as `deviation_over` says it."""
    over = deviation_over(several, networks)
    return f"; error bars: {over}" if over else ""


def series_of(
    repeated: Sequence[Repeated], short: Callable[[Repeated], str], place: Callable[[Repeated], Place]
) -> dict[str, dict[Place, Repeated]]:
    """What is drawn in one look, by its name, and in it what stands at each place.

    Things of one short name are one series, unless two of them would stand at the same place: then each
    way of making has a series of its own.
    """
    by_name: defaultdict[str, list[Repeated]] = defaultdict(list)
    for found in repeated:
        by_name[short(found)].append(found)
    series: dict[str, dict[Place, Repeated]] = {}
    for name, members in by_name.items():
        if len({place(member) for member in members}) == len(members):
            series[name] = {place(member): member for member in members}
            continue
        ways = {key_of(_made(member.cases[0])): member.cases[0] for member in members}
        labels = distinct_labels(
            [_made(case) for case in ways.values()], [case.folder for case in ways.values()]
        )
        for way, label in zip(ways, labels, strict=True):
            own = [member for member in members if key_of(_made(member.cases[0])) == way]
            series[label] = {place(member): member for member in own}
    return series


def alike(cases: Sequence[Case]) -> dict[str, list[int]]:
    """The numbers of the runs that differ by their seed alone, by a label for each group of them."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, case in enumerate(cases):
        groups[key_of([_made(case), _sizes(case)])].append(number)
    first = [cases[numbers[0]] for numbers in groups.values()]
    seedless = [{name: case.manifest[name] for name in case.manifest if name != "seed"} for case in first]
    labels = distinct_labels(seedless, [case.folder for case in first])
    return dict(zip(labels, groups.values(), strict=True))


def _made(case: Case) -> dict[str, Any]:
    """How a set was made, but for its size and seed."""
    made = {name: case.manifest[name] for name in _MADE}
    return made | ({"sketch": True} if "sketch" in case.manifest else {})


def _sizes(case: Case) -> list[Any]:
    return [case.manifest.get(name) for name in _SIZES]
