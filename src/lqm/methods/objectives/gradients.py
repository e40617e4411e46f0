"""Gradient matching: a network should learn from S_c what it learns from T_c (Zhao, Mopuri & Bilen 2021)."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder
from lqm.utils.errors import ConfigError

# The gradient of each parameter of a network.
Gradient = tuple[Tensor, ...]


class ClassifyingEncoder(Encoder, Protocol):
    """An encoder that reads out the logits of a network."""

    network: nn.Module

    def readouts_twice(self, inputs: Tensor) -> tuple[Tensor, ...]:
        """The logits of records, [B, classes], to be differentiated twice."""
        ...

    def readouts_in_parts(self, inputs: Tensor) -> Iterator[tuple[Tensor, ...]]:
        """The same part by part, each to be differentiated once before the next is asked for."""
        ...


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


def conv_squared(real: Gradient, synthetic: Gradient) -> Tensor:
    """Sum of squared differences over the weights of convolutions."""
    return torch.stack([(one - other).square().sum() for one, other in _convolutions(real, synthetic)]).sum()


def conv_absolute(real: Gradient, synthetic: Gradient) -> Tensor:
    """Sum of absolute differences over the weights of convolutions."""
    return torch.stack([(one - other).abs().sum() for one, other in _convolutions(real, synthetic)]).sum()


def _convolutions(*gradients: Gradient) -> list[tuple[Tensor, ...]]:
    """The parts of gradients that belong to the weights of convolutions, side by side."""
    found = [parts for parts in zip(*gradients, strict=True) if parts[0].ndim == 4]
    if not found:
        raise ConfigError("the network has no convolution whose gradients could be compared; give another")
    return found


GRADIENT_DISTANCES: dict[str, Callable[[Gradient, Gradient], Tensor]] = {
    "row-cosine": row_cosine,
    "squared": squared,
    "cosine": whole_cosine,
    "conv-squared": conv_squared,
    "conv-absolute": conv_absolute,
}


class GradientMatching:
    """A distance between the gradients that real and synthetic records of some classes give a network.

    loss of classes G = D(mean over c in G of the gradient of CE(network(T_c), c),
                          gradient of CE(network(S_G), labels))

    So classes that come one by one are compared one by one (DC, DSA, IDC), and of those that come together
    the sum is (Lee et al. 2022, DCC and DSAC).

    Args:
        distance: one of `GRADIENT_DISTANCES`.
    """

    def __init__(self, distance: str = "row-cosine") -> None:
        self._distance = GRADIENT_DISTANCES[distance]

    def target(
        self, encoder: ClassifyingEncoder, batches: Iterable[Batch], draws: torch.Generator
    ) -> Gradient:
        """The mean over the classes of their gradients on the real side, detached."""
        found = [
            _constant_gradient(encoder, Batch(images, [label], [len(images)]))
            for batch in batches
            for images, label in zip(batch.by_class(batch.inputs), batch.classes, strict=True)
        ]
        return tuple(sum(parts[1:], parts[0]) / len(parts) for parts in zip(*found, strict=True))

    def loss(self, encoder: ClassifyingEncoder, target: Gradient, synthetic: Batch) -> Tensor:
        """One loss for all classes that came together, [1]."""
        return self._distance(target, _live_gradient(encoder, synthetic)).reshape(1)


def _live_gradient(encoder: ClassifyingEncoder, batch: Batch) -> Gradient:
    """The gradient of the mean cross-entropy of a batch, which can be differentiated again."""
    (logits,) = encoder.readouts_twice(batch.inputs)
    loss = F.cross_entropy(logits, batch.labels(logits.device))
    return torch.autograd.grad(loss, _learned(encoder), create_graph=True, materialize_grads=True)


def _constant_gradient(encoder: ClassifyingEncoder, batch: Batch) -> Gradient:
    """The gradient of the mean cross-entropy of a batch, without a past."""
    total: Gradient = ()
    labels = batch.labels(batch.inputs.device)
    done = 0
    with torch.enable_grad():
        for (logits,) in encoder.readouts_in_parts(batch.inputs):
            own = labels[done : done + len(logits)]
            done += len(logits)
            loss = F.cross_entropy(logits, own) * (len(own) / len(labels))
            part = torch.autograd.grad(loss, _learned(encoder), materialize_grads=True)
            total = tuple(one + other for one, other in zip(total, part, strict=True)) if total else part
    return total


def _learned(encoder: ClassifyingEncoder) -> list[nn.Parameter]:
    return [weight for weight in encoder.network.parameters() if weight.requires_grad]
