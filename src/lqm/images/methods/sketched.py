"""What a sketch keeps of one encoder's look at real images, and how it is read again."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lqm.banks import Shard, Sketch, encoder_of_step
from lqm.distances.grid import needs, quantile_grid
from lqm.images.augment import NUMBERS, OPERATIONS, Record
from lqm.images.methods.views import Glance, View, targets_of

if TYPE_CHECKING:
    from lqm.images.methods.matching import Matching

_MOST_NUMBERS = max(NUMBERS.values())


def sketched(glances: Iterable[Glance], size: int) -> dict[str, Tensor]:
    """Of each class its transform, and of each part a grid of at most `size` quantiles and the mean."""
    tensors: dict[str, Tensor] = {}
    records: list[Record] = []
    for glance in glances:
        records += glance.records
        for number, part in enumerate(glance.samples):
            for label, sample in zip(glance.classes, part, strict=True):
                tensors[f"grid.{number}.{label}"] = quantile_grid(sample, size)
                tensors[f"mean.{number}.{label}"] = sample.mean(dim=0)
    numbers = torch.zeros(len(records), _MOST_NUMBERS)
    for row, record in zip(numbers, records, strict=True):
        row[: NUMBERS[record.operation]] = record.numbers[0]
    operations = torch.tensor([OPERATIONS.index(record.operation) for record in records])
    return tensors | {"augmentation.operations": operations, "augmentation.numbers": numbers}


def recalled(method: "Matching", sketch: Sketch, step: int) -> View:
    """The view of a sketch that a step of a method draws."""
    shard = sketch[encoder_of_step(method.seed, step, sketch.encoders)]
    sight, accuracy = method.encoder(shard.below("encoder"))
    targets = []
    for classes in method.turns:
        samples = _samples(shard, classes, method)
        targets.append(targets_of(method.distances(len(samples)), samples, method.records))
    return View(sight, _records(shard), targets, accuracy)


def _records(shard: Shard) -> list[Record]:
    """The transform of each class."""
    operations, numbers = shard["augmentation.operations"], shard["augmentation.numbers"]
    names = [OPERATIONS[number] for number in operations.tolist()]
    return [Record(name, row[: NUMBERS[name]].unsqueeze(0)) for name, row in zip(names, numbers, strict=True)]


def _samples(shard: Shard, classes: Sequence[int], method: "Matching") -> list[list[Tensor]]:
    """Of each part, what stands for the real sample of each class."""
    parts = 1 + max(int(name.split(".")[1]) for name in shard.names if name.startswith("mean."))
    kinds = ["mean" if needs(distance) == "mean" else "grid" for distance in method.distances(parts)]
    return [
        [torch.atleast_2d(shard[f"{kind}.{number}.{label}"]).to(method.device) for label in classes]
        for number, kind in enumerate(kinds)
    ]
