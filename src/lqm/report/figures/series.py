"""Runs that differ by their seed alone are drawn as one, with a spread."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TypeVar

from lqm.evaluation.cases import Case
from lqm.evaluation.comparison import Comparison, Repeats, comparisons
from lqm.evaluation.labels import distinct_labels, key_of, made_of

Place = TypeVar("Place", bound=Hashable)


def evaluated(cases: Sequence[Case]) -> list[Comparison]:
    """What was evaluated, one way at a time."""
    return [found for found in comparisons([case.condensed for case in cases]) if found.protocol]


def deviation_over(several: bool, networks: bool) -> str:
    """What deviations are over: of `several` runs, else of `networks`; nothing where there are none.

    Example:
        >>> deviation_over(True, False), deviation_over(False, True), deviation_over(False, False)
        ('sample deviation over runs that differ by seed alone', 'sample deviation over networks', '')
    """
    if several:
        single = ", of a single one over networks" * networks
        return f"sample deviation over runs that differ by seed alone{single}"
    return "sample deviation over networks" * networks


def error_bars(several: bool, networks: bool) -> str:
    """The end of a title: what its error bars are; see `deviation_over`."""
    over = deviation_over(several, networks)
    return f"; error bars: {over}" if over else ""


def series_of(
    repeated: Sequence[Repeats], short: Callable[[Repeats], str], place: Callable[[Repeats], Place]
) -> dict[str, dict[Place, Repeats]]:
    """The series of a figure by their names, and in each what stands at each place.

    Runs of one short name are one series, unless two of them would stand at the same place: then each
    method with its settings has a series of its own.
    """
    by_name: defaultdict[str, list[Repeats]] = defaultdict(list)
    for found in repeated:
        by_name[short(found)].append(found)
    series: dict[str, dict[Place, Repeats]] = {}
    for name, members in by_name.items():
        if len({place(member) for member in members}) == len(members):
            series[name] = {place(member): member for member in members}
            continue
        ways: defaultdict[str, list[Repeats]] = defaultdict(list)
        for member in members:
            ways[key_of(made_of(member.manifest))].append(member)
        first = [own[0] for own in ways.values()]
        labels = distinct_labels([made_of(own.manifest) for own in first], [folder_of(own) for own in first])
        for label, own in zip(labels, ways.values(), strict=True):
            series[label] = {place(member): member for member in own}
    return series


def folder_of(repeats: Repeats) -> Path:
    """Where the first of the runs was read from."""
    return repeats.sets[0].path or Path()
