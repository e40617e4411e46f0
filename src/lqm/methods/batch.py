"""Records of some classes, as an encoder takes them."""

from collections.abc import Sequence
from dataclasses import dataclass
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
