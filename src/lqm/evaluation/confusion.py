"""Which class networks take for which: the part of a confusion matrix off its diagonal."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from torch import Tensor

# A class, the other that records of it are predicted as, and their share of its test records.
Confused = tuple[int, int, float]

# Pairs of classes in a manifest, the most frequent ones: all of 20 classes, and no more bytes of 1,000.
MOST_PAIRS = 400


def confusions(named: Tensor, labels: Tensor, classes: int) -> list[Confused]:
    """The pairs of classes that one network confuses, in the order of the classes.

    Shapes: named (the predicted classes of the test records) [N], labels [N].

    Example:
        >>> import torch
        >>> confusions(torch.tensor([0, 1, 1, 1]), torch.tensor([0, 0, 0, 1]), 2)
        [(0, 1, 0.6666666666666666)]
    """
    tested, wrong = labels.bincount(minlength=classes), named != labels
    pairs, counts = (labels[wrong] * classes + named[wrong]).unique(return_counts=True)
    return [
        (pair // classes, pair % classes, count / int(tested[pair // classes]))
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True)
    ]


def mean_confusions(each: Sequence[Sequence[Confused]]) -> tuple[Confused, ...]:
    """The mean shares over networks, in the order of the classes.

    A pair that was left out of a list of the most frequent ones has a share that is not known, and is left
    out of the mean too.
    """
    found: defaultdict[tuple[int, int], list[float]] = defaultdict(list)
    for pairs in each:
        for label, named, share in pairs:
            found[label, named].append(share)
    cut = [{(label, named) for label, named, _ in pairs} for pairs in each if len(pairs) == MOST_PAIRS]
    return tuple(
        (*pair, sum(shares) / len(each))
        for pair, shares in sorted(found.items())
        if all(pair in known for known in cut)
    )


def most_confused(pairs: Sequence[Confused], count: int = MOST_PAIRS) -> list[Confused]:
    """The most frequent pairs, that first."""
    return sorted(pairs, key=lambda pair: -pair[2])[:count]


def unflattened(numbers: Sequence[float]) -> tuple[Confused, ...]:
    """The pairs that stand in one list after each other."""
    parts = (numbers[place::3] for place in range(3))
    return tuple((int(label), int(named), share) for label, named, share in zip(*parts, strict=True))


def to_stored(pairs: Sequence[Confused]) -> dict[str, dict[str, float]]:
    """The most frequent pairs as a manifest has them: by class, then by what it is taken for."""
    stored: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for label, named, share in sorted(most_confused(pairs)):
        stored[str(label)][str(named)] = share
    return dict(stored)


def from_stored(stored: Mapping[str, Mapping[str, float]]) -> tuple[Confused, ...]:
    """The pairs in a manifest."""
    return tuple(
        (int(label), int(named), share) for label, own in stored.items() for named, share in own.items()
    )
