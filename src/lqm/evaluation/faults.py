"""What is wrong with a condensed set, in a line each: plain signs that a condensation has failed."""

from bisect import bisect_right
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from lqm.condensed import CondensedSet
from lqm.evaluation.evaluator import Evaluator, Lengths
from lqm.evaluation.history import read_losses
from lqm.evaluation.scores import Score

# Lengths that differ by more than this factor from those of the real records are called wrong.
_FACTOR = 2.0
_NAMED = 3
_FEWEST_LOSSES, _FALLEN = 50, 0.6


def faults_of(
    condensed: CondensedSet,
    evaluator: Evaluator,
    source: Any | None = None,
    score: Score | None = None,
    lengths: Sequence[Lengths] | None = None,
) -> list[str]:
    """Everything that is found wrong, a line each; without a source or a score, what needs none.

    Args:
        condensed: the set.
        evaluator: of its kind of data.
        source: the real data, by which lengths are told to be wrong.
        score: what networks found.
        lengths: those of the features by class, if they are known; else they come from the source.
    """
    if lengths is None:
        lengths = evaluator.lengths(condensed, source) if evaluator.lengths else []
    losses = read_losses(condensed.path, condensed.manifest["steps"]) if condensed.path else []
    records = next(iter(evaluator.protocols.values())).records
    present = {condensed.class_names[label] for label in condensed.labels[condensed.labels >= 0].tolist()}
    found = [
        loss_that_did_not_fall(losses),
        never_predicted(score, condensed.class_names, present) if score else "",
    ]
    return [*faults_of_lengths(lengths, records), *(line for line in found if line)]


def faults_of_lengths(lengths: Sequence[Lengths], records: str) -> list[str]:
    """Records that are dead, and classes whose features are too long or too short."""
    return [line for line in (dead_records(lengths, records), drifted_lengths(lengths, records)) if line]


def dead_records(lengths: Sequence[Lengths], records: str) -> str:
    """Records whose features are all 0: nothing can be learned from them, and no gradient changes them."""
    dead = {each.name: int((each.own == 0).sum()) for each in lengths if each.real != 0}
    classes = [name for name, count in dead.items() if count]
    if not classes:
        return ""
    count = sum(dead.values())
    total = sum(len(each.own) for each in lengths)
    return (
        f"{count:,} of the {total:,} {records} have features that are all 0 ({_few(classes)}), which nothing "
        "can be learned from; condense again with another seed or init"
    )


def drifted_lengths(lengths: Sequence[Lengths], records: str) -> str:
    """Classes whose features are on average more than twice or less than half as long as the real ones."""
    off = {}
    for each in lengths:
        own = float(each.own.mean()) if len(each.own) else 0.0
        if each.real and own and not 1 / _FACTOR <= own / each.real <= _FACTOR:
            off[each.name] = own / each.real
    if not off:
        return ""
    farthest = max(off, key=lambda name: max(off[name], 1 / off[name]))
    return (
        f"in {len(off)} of {len(lengths)} classes ({_few([*off])}) features are not as long as those of the "
        f"real {records} that networks are tested on: in class {farthest} {off[farthest]:.2g} times as long"
    )


def never_predicted(score: Score, class_names: Sequence[str], present: set[str]) -> str:
    """Classes that have test records and that no network predicted of any record."""
    missing = [
        name
        for name, share, right in zip(class_names, score.predicted, score.by_class, strict=False)
        if share == 0 and right is not None
    ]
    if not missing:
        return ""
    absent = [name for name in missing if name not in present]
    why = f"; the set has no record of {_few(absent)}" if absent else ""
    return (
        f"{len(missing)} of {len(class_names)} classes ({_few(missing)}) are never predicted by networks "
        f"that were trained on the set{why}"
    )


def loss_that_did_not_fall(losses: Sequence[float]) -> str:
    """Whether losses at the end are no lower than at the beginning.

    Losses under random encoders are noisy, so they are compared in pairs: they fell if 60 % of the losses
    of the last tenth are below those of the first tenth, or of the first hundredth, in which a long run may
    have fallen already. Runs of fewer than 50 steps are too short to tell.
    """
    count = len(losses)
    if count < _FEWEST_LOSSES:
        return ""
    first, last = losses[: count // 10], losses[-(count // 10) :]
    if max(_share_below(last, begin) for begin in (first, losses[: max(5, count // 100)])) >= _FALLEN:
        return ""
    return (
        f"the loss did not fall: {fmean(first):.3g} on average over the first tenth of the steps, "
        f"{fmean(last):.3g} over the last; condense with another learning_rate or more steps"
    )


def _share_below(late: Sequence[float], early: Sequence[float]) -> float:
    """The share of pairs in which the late value is below the early one."""
    ascending = sorted(early)
    return fmean(1 - bisect_right(ascending, value) / len(early) for value in late)


def _few(names: Sequence[str]) -> str:
    """Some names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
