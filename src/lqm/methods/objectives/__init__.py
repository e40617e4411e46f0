"""What is matched: features, class scores, gradients or trajectories; each has a loss beside a target."""

from collections.abc import Iterable
from typing import Any, Protocol

import torch
from torch import Tensor

from lqm.methods.batch import Batch

# For each readout of an encoder, the sample of each class, [n_c, ...].
Samples = list[list[Tensor]]


class Loss(Protocol):
    """The half of an objective that is differentiated."""

    def loss(self, encoder: Any, target: Any, synthetic: Any) -> Tensor:
        """One loss a class, [C], or one for all of them, [1]; differentiable in what is learned."""
        ...


class Objective(Loss, Protocol):
    """Two halves: only the loss is differentiated."""

    def target(self, encoder: Any, batches: Iterable[Batch], draws: torch.Generator) -> Any:
        """What the real records of some classes leave behind; no gradient."""
        ...
