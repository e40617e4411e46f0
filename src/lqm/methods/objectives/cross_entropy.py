"""Calibration: synthetic records should look like their class to a trained network."""

from collections.abc import Iterable

import torch
from torch import Tensor

from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder
from lqm.methods.objectives.features import class_cross_entropy


class CrossEntropy:
    """The cross-entropy of an encoder that reads out logits, on synthetic records alone.

    loss of class c = weight * CE(network(S_c), c)
    """

    def __init__(self, weight: float = 1.0) -> None:
        self._weight = weight

    def target(self, encoder: Encoder, batches: Iterable[Batch], draws: torch.Generator) -> None:
        """The real side plays no part."""

    def loss(self, encoder: Encoder, target: None, synthetic: Batch) -> Tensor:
        """One loss a class, [C]."""
        (logits,) = encoder.readouts(synthetic.inputs)
        return self._weight * class_cross_entropy(logits, synthetic)
