"""What is matched: features, class scores or gradients; each split into a target and a loss."""

from collections.abc import Iterable
from typing import Any, Protocol

import torch
from torch import Tensor

from lqm.methods.batch import Batch

# For each readout of an encoder, the sample of each class, [n_c, ...].
Samples = list[list[Tensor]]


class Objective(Protocol):
    """Two halves: only the second is differentiated."""

    def target(self, encoder: Any, batches: Iterable[Batch], draws: torch.Generator) -> Any:
        """What the real records of some classes leave behind; no gradient."""
        ...

    def loss(self, encoder: Any, target: Any, synthetic: Batch) -> Tensor:
        """One loss a class, [C], differentiable in the synthetic records."""
        ...
