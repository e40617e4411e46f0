"""The comparisons of a study: pairs of cells that differ along one axis alone."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lqm.evaluation.labels import key_of
from lqm.evaluation.paired import Paired, holm
from lqm.studies.lines import CellLine, Value, done, without


@dataclass(frozen=True)
class Comparison:
    """One value of the compared axis beside another, all else alike.

    Attributes:
        group: what both sides share: the other axes, and `network` where several kinds evaluate.
        side: the value of the axis.
        against: the value that it is compared with.
        paired: the differences of the accuracies, side less against, one a seed that both have.
        holm: the p-value of its sign-flip test by Holm's rule over all comparisons of the study.
    """

    group: dict[str, Value]
    side: Value
    against: Value
    paired: Paired
    holm: float


def comparisons(lines: Sequence[CellLine]) -> list[Comparison]:
    """Every comparison of a study, as its head asks for them; sides without a common seed are left out."""
    found = []
    for group, sides in _groups(done(lines)):
        axis, against = sides[0].study.axis, sides[0].study.against
        base = {line.seed: line for line in sides if str(line.axes.get(axis)) == against}
        for value in dict.fromkeys(line.axes[axis] for line in sides if axis in line.axes):
            own = {line.seed: line for line in sides if line.axes.get(axis) == value}
            shared = [seed for seed in own if seed in base]
            if str(value) == against or not shared:
                continue
            for network in own[shared[0]].scores:
                differences = tuple(own[s].accuracy(network) - base[s].accuracy(network) for s in shared)
                named = {"network": network} if len(own[shared[0]].scores) > 1 else {}
                found.append((group | named, value, against, Paired(differences)))
    adjusted = holm([paired.p for *_, paired in found])
    return [Comparison(*each, p) for each, p in zip(found, adjusted, strict=True)]


def _groups(lines: Sequence[CellLine]) -> list[tuple[dict[str, Any], list[CellLine]]]:
    """Lines that differ along the compared axis and by their seed alone."""
    groups: defaultdict[str, list[CellLine]] = defaultdict(list)
    for line in lines:
        groups[key_of(without(line.axes, line.study.axis))].append(line)
    return [(without(own[0].axes, own[0].study.axis), own) for own in groups.values()]
