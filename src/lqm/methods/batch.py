"""Records of some classes, as an encoder takes them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Batch:
    """Records of some classes, class after class, real or synthetic.

    Attributes:
        inputs: what an encoder takes: normalised images [B, C, H, W], or a matrix of node features.
        classes: the numbers of the classes.
        sizes: how many records each of them has.
    """

    inputs: Any
    classes: Sequence[int]
    sizes: Sequence[int]

    def by_class(self, values: Tensor) -> list[Tensor]:
        """What belongs to the records, [B, ...], as one tensor a class."""
        return list(values.split(list(self.sizes)))

    def labels(self, device: torch.device) -> Tensor:
        """The class of each record, [B]."""
        return torch.tensor(list(self.classes), device=device).repeat_interleave(
            torch.tensor(list(self.sizes), device=device)
        )


@dataclass(frozen=True, eq=False)
class Lesson(Batch):
    """Records with the labels and the rate by which a network is to learn from them.

    Attributes:
        targets: the class of each record, [B], or the shares of all classes in it, [B, classes].
        rate: of plain SGD, a number.
    """

    targets: Tensor
    rate: Tensor

    def detached(self, *, live: bool = False) -> "Lesson":
        """The same without a past; what is a real number can be differentiated by if it is `live`."""
        inputs, targets = (
            part.detach().requires_grad_(live and part.is_floating_point())
            for part in (self.inputs, self.targets)
        )
        return replace(self, inputs=inputs, targets=targets)


def class_chunks(sizes: Sequence[int], most: int) -> list[list[int]]:
    """Classes in order, as many at once as have few enough records together.

    Example:
        >>> class_chunks([3, 4, 9, 1, 1], most=8)
        [[0, 1], [2], [3, 4]]
    """
    chunks: list[list[int]] = [[]]
    records = 0
    for label, size in enumerate(sizes):
        records += size
        if chunks[-1] and records > most:
            chunks.append([])
            records = size
        chunks[-1].append(label)
    return chunks
