"""The real side of a step: what one encoder leaves behind of the real images."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.distances import Distance, class_losses, class_targets
from lqm.distances.classes import Group
from lqm.images.augment import Record
from lqm.images.networks import Sight

Targets = list[list[Group]]


@dataclass(frozen=True, eq=False)
class View:
    """The real images as one encoder saw them: all that an update of the synthetic ones needs of them.

    Attributes:
        sight: the encoder.
        records: the transform of each class, for the synthetic images to undergo too.
        targets: for each turn of classes, and each part that the encoder finds, what the real side left.
        accuracy: of the encoder, on what it has learned from.
    """

    sight: Sight
    records: Sequence[Record]
    targets: Sequence[Targets]
    accuracy: float = 0.0


@dataclass(frozen=True, eq=False)
class Glance:
    """What an encoder found in real images of some classes.

    Attributes:
        classes: which classes.
        records: the transform of each of them.
        samples: of each part that the encoder finds, that of each class, [n_c, ...].
    """

    classes: Sequence[int]
    records: list[Record]
    samples: list[list[Tensor]]


def targets_of(
    distances: Sequence[Distance],
    samples: Sequence[Sequence[Tensor]],
    k: int,
    draws: torch.Generator | None = None,
) -> Targets:
    """What the real side leaves behind for k synthetic records: of each part, the sample of each class."""
    return [
        class_targets(distance, part, [k] * len(part), draws)
        for distance, part in zip(distances, samples, strict=True)
    ]


def losses_of(
    distances: Sequence[Distance], targets: Targets, parts: Sequence[Tensor], k: int
) -> list[Tensor]:
    """The loss of each class, [C], for each part of what an encoder finds in k synthetic images of each."""
    return [
        class_losses(distance, groups, part.split(k))
        for distance, groups, part in zip(distances, targets, parts, strict=True)
    ]
