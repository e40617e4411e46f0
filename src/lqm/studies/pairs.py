"""The comparisons of a study: pairs of cells that differ along one axis alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lqm.evaluation.labels import key_of
from lqm.evaluation.paired import Paired, holm
from lqm.studies.lines import ARM, CellLine, Value, done, without
from lqm.utils.sentences import counted

# The setting of a stream by which its one kind of network is called in its scores.
CLASSIFIER = "classifier"


@dataclass(frozen=True)
class Comparison:
    """One value of the compared axis beside another, all else alike.

    Attributes:
        group: what both sides share: the other axes, and `network` where several kinds evaluate.
        axis: that is compared.
        side: the value of the axis.
        against: the value that it is compared with.
        paired: the differences of the accuracies, side less against, one a seed that both have.
        holm: the p-value of its sign-flip test by Holm's rule over all comparisons of the study.
        unlike: in what else the sides of its pairs differ: settings, the protocol, or that one was tuned.
    """

    group: dict[str, Value]
    axis: str
    side: Value
    against: Value
    paired: Paired
    holm: float
    unlike: tuple[str, ...] = ()


def comparisons(lines: Sequence[CellLine], against: str | None = None) -> list[Comparison]:
    """Every comparison of a study, as its head asks for them, or against another side.

    Sides without a common seed are left out.
    """
    found = []
    for group, sides in _groups(ordered(done(lines))):
        axis, other_side = sides[0].study.axis, against or sides[0].study.against
        base = {line.seed: line for line in sides if str(line.axes.get(axis)) == other_side}
        for value in dict.fromkeys(line.axes[axis] for line in sides if axis in line.axes):
            if str(value) == other_side:
                continue
            own = {line.seed: line for line in sides if line.axes.get(axis) == value}
            pairs = [(line, base[seed]) for seed, line in own.items() if seed in base]
            networks = _networks(axis, pairs)
            for network in networks:
                both = [pair for pair in pairs if all(network in (None, *line.scores) for line in pair)]
                if both:
                    differences = tuple(
                        one.accuracy(network) - other.accuracy(network) for one, other in both
                    )
                    named = {"network": network} if len(networks) > 1 else {}
                    unlike = tuple(dict.fromkeys(name for pair in both for name in _unlike(axis, *pair)))
                    found.append(
                        Comparison(group | named, axis, value, other_side, Paired(differences), 1.0, unlike)
                    )
    adjusted = holm([each.paired.p for each in found])
    return [replace(each, holm=p) for each, p in zip(found, adjusted, strict=True)]


def answers(found: Sequence[Comparison]) -> list[str]:
    """In how many comparisons each side is better, worse, or neither; a sentence a side, without full stop.

    Example:
        >>> pairs = [Paired((0.10, 0.11, 0.12)), Paired((0.1, 0.0, -0.1))]
        >>> answers([Comparison({}, "distance", "lqm", "mean", each, 1.0) for each in pairs])
        ["lqm is better than mean in 1 of 2 comparisons, worse in 0, can't be told apart in 1"]
    """
    verdicts: defaultdict[tuple[Value, Value], Counter[str]] = defaultdict(Counter)
    for each in found:
        verdicts[each.side, each.against][each.paired.verdict] += 1
    return [_answer(side, against, counts) for (side, against), counts in verdicts.items()]


def group_in_words(group: dict[str, Value]) -> str:
    """What the cells of a group share, in a line.

    Example:
        >>> group_in_words({"source": "digits", "method": "dm", "per_class": 10, "init": "noise"})
        'digits, dm, 10 a class, init noise'
    """
    words = {
        "source": "{}",
        "method": "{}",
        "per_class": "{} a class",
        "budget": "budget {}",
        "network": "by {}",
    }
    parts = (words.get(name, f"{name.replace('_', ' ')} {{}}").format(value) for name, value in group.items())
    return ", ".join(parts)


def ordered(lines: Sequence[CellLine]) -> list[CellLine]:
    """Lines axis by axis, the compared one last, whatever the order in which their cells came to an end.

    Numbers are in their order, names in that in which they first came, after the one that they are compared
    with.
    """
    names = dict.fromkeys(name for line in lines for name in without(line.axes, line.study.axis))
    ranks = {name: _ranks(line.axes.get(name) for line in lines) for name in names}
    compared = _ranks(line.axes.get(line.study.axis) for line in lines)

    def place(line: CellLine) -> tuple[int, ...]:
        others = (of_axis[line.axes.get(name)] for name, of_axis in ranks.items())
        own = line.axes.get(line.study.axis)
        return (*others, str(own) != line.study.against, compared[own], line.seed)

    return sorted(lines, key=place)


def _ranks(values: Iterable[Value | None]) -> dict[Value | None, int]:
    known = [*dict.fromkeys(values)]
    if all(isinstance(value, int | float) for value in known):
        known.sort()
    return {value: rank for rank, value in enumerate(known)}


def _answer(side: Value, against: Value, counts: Counter[str]) -> str:
    better, worse, total = counts["better"], counts["worse"], counts.total()
    of = counted(total, "comparison", "comparisons")
    return (
        f"{side} is better than {against} in {better} of {of}, worse in {worse}, "
        f"can't be told apart in {total - better - worse}"
    )


def _unlike(axis: str, one: CellLine, other: CellLine) -> Iterator[str]:
    """What else two lines differ in; of methods and arms, with settings of their own, the protocol alone."""
    if one.protocol != other.protocol:
        yield "protocol"
    if axis in ("method", ARM):
        return
    own, beside = (without(line.settings, axis, *one.tuned, *other.tuned) for line in (one, other))
    yield from (name for name in own | beside if own.get(name) != beside.get(name))
    if one.tuned.keys() != other.tuned.keys():
        yield "tuning"


def _networks(axis: str, pairs: Sequence[tuple[CellLine, CellLine]]) -> list[str | None]:
    """The kinds of networks that scored; None for the only kind of a line, where just that is compared."""
    if axis in (CLASSIFIER, ARM):
        return [None]
    return [*dict.fromkeys(network for line, _ in pairs for network in line.scores)]


def _groups(lines: Sequence[CellLine]) -> list[tuple[dict[str, Any], list[CellLine]]]:
    """Lines that differ along the compared axis and by their seed alone."""
    groups: defaultdict[str, list[CellLine]] = defaultdict(list)
    for line in lines:
        groups[key_of([line.study.axis, line.study.against, without(line.axes, line.study.axis)])].append(
            line
        )
    return [(without(own[0].axes, own[0].study.axis), own) for own in groups.values()]
