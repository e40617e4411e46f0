"""Gradient matching: a network should learn from S_c what it learns from T_c (Zhao, Mopuri & Bilen 2021)."""

from collections.abc import Callable, Iterable
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder

# The gradient of each parameter of a network.
Gradient = tuple[Tensor, ...]


class ClassifyingEncoder(Encoder, Protocol):
    """An encoder that reads out the logits of a network."""

    network: nn.Module


def row_cosine(real: Gradient, synthetic: Gradient) -> Tensor:
    """Sum over layers and their output rows of 1 - cosine; biases and norms play no part.

    Shapes: a weight is [rows, ...]; the result is a number.
    """
    parts = []
    for one, other in zip(real, synthetic, strict=True):
        if one.ndim > 1:
            rows, own = one.flatten(1), other.flatten(1)
            length = rows.norm(dim=1) * own.norm(dim=1) + 1e-6
            parts.append((1 - (rows * own).sum(dim=1) / length).sum())
    return torch.stack(parts).sum()


def squared(real: Gradient, synthetic: Gradient) -> Tensor:
    """Sum of squared differences over all parameters."""
    return _whole(real).sub(_whole(synthetic)).square().sum()


def whole_cosine(real: Gradient, synthetic: Gradient) -> Tensor:
    """1 - cosine of all parameters as one vector."""
    one, other = _whole(real), _whole(synthetic)
    similarity: Tensor = (one * other).sum() / (one.norm() * other.norm() + 1e-6)
    return 1 - similarity


def _whole(gradient: Gradient) -> Tensor:
    return torch.cat([part.flatten() for part in gradient])


GRADIENT_DISTANCES: dict[str, Callable[[Gradient, Gradient], Tensor]] = {
    "row-cosine": row_cosine,
    "squared": squared,
    "cosine": whole_cosine,
}


class GradientMatching:
    """A distance between the gradients that real and synthetic records of a class give a network.

    loss of class c = D(gradient of CE(network(T_c), c), gradient of CE(network(S_c), c))

    Args:
        distance: one of `GRADIENT_DISTANCES`.
    """

    def __init__(self, distance: str = "row-cosine") -> None:
        self._distance = GRADIENT_DISTANCES[distance]

    def target(
        self, encoder: ClassifyingEncoder, batches: Iterable[Batch], draws: torch.Generator
    ) -> list[Gradient]:
        """The gradient of each class on the real side, detached."""
        return [gradient for batch in batches for gradient in _gradients(encoder, batch, live=False)]

    def loss(self, encoder: ClassifyingEncoder, target: list[Gradient], synthetic: Batch) -> Tensor:
        """One loss a class, [C]."""
        own = _gradients(encoder, synthetic, live=True)
        return torch.stack([self._distance(*pair) for pair in zip(target, own, strict=True)])


def _gradients(encoder: ClassifyingEncoder, batch: Batch, *, live: bool) -> list[Gradient]:
    """The gradient of each class of a batch; `live` ones can be differentiated again."""
    found = []
    parameters = [weight for weight in encoder.network.parameters() if weight.requires_grad]
    with torch.enable_grad():
        for images, label in zip(batch.by_class(batch.inputs), batch.classes, strict=True):
            (logits,) = encoder.readouts(images)
            wanted = torch.full((len(images),), label, device=logits.device)
            loss = F.cross_entropy(logits, wanted)
            gradient = torch.autograd.grad(loss, parameters, create_graph=live, materialize_grads=True)
            found.append(gradient if live else tuple(part.detach() for part in gradient))
    return found
