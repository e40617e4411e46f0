"""phi in S* = argmin D(phi(T), phi(S)), for nodes: random encoders, each used once or a few times."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.randomness import derive
from lqm.graphs.matrices import Matrix
from lqm.methods.encoders import Encoders

if TYPE_CHECKING:
    from lqm.graphs.methods.cat import CaTSettings

_LARGEST = 2**64 - 1
Activation = Literal["relu", "leaky-relu", "elu", "tanh", "sigmoid"]
# In place: the products that they are applied to are needed by nothing else, not even by a gradient.
_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "leaky-relu": F.leaky_relu_,
    "elu": F.elu_,
    "tanh": torch.tanh_,
    "sigmoid": torch.sigmoid_,
}


@dataclass(frozen=True, eq=False)
class Encoder:
    """Layers without bias, each followed by an activation; the embedding of each node has length 1.

    h_0 = x, h_l = activation(h_(l-1) W_l), embedding = h_L / ||h_L||
    """

    weights: list[Tensor]
    activation: Activation

    def __call__(self, features: Matrix | Tensor) -> Tensor:
        """The embedding, [N, width], of propagated nodes, [N, F]."""
        hidden = _ACTIVATIONS[self.activation](features @ self.weights[0])
        for weight in self.weights[1:]:
            hidden = _ACTIVATIONS[self.activation](hidden @ weight)
        length = torch.linalg.vector_norm(hidden, dim=1, keepdim=True).clamp_min(1e-12)
        return hidden / length if hidden.requires_grad else hidden.div_(length)

    @property
    def metrics(self) -> dict[str, float]:
        """A random encoder has nothing to log."""
        return {}

    def readouts(self, features: Matrix | Tensor) -> tuple[Tensor, ...]:
        """The embedding, with gradients."""
        return (self(features),)

    @torch.no_grad()
    def encode(self, features: Matrix | Tensor) -> tuple[Tensor, ...]:
        """The embedding, without gradients."""
        return (self(features),)


class RandomEncoders(Encoders):
    """A random encoder for each step.

    Args:
        features: how many features a node has.
        settings: of the encoders.
        seed: everything random follows from it.
        device: where to compute.
    """

    draws = False

    def __init__(self, features: int, settings: "CaTSettings", seed: int, device: torch.device) -> None:
        self._features, self._settings, self._seed, self._device = features, settings, seed, device

    def at(self, n: int) -> Encoder:
        """Encoder number n."""
        return self.of_seed(self._seed, n)

    def of_seed(self, seed: int, n: int) -> Encoder:
        """Encoder number n of another seed, such as that of a sketch."""
        return fresh_encoder(
            self._features,
            width=self._settings.width,
            depth=self._settings.depth,
            activation=self._settings.activation,
            seed=seed,
            step=n,
            device=self._device,
        )


def fresh_encoder(
    features: int,
    *,
    width: int,
    depth: int,
    activation: Activation,
    seed: int,
    step: int,
    device: torch.device,
) -> Encoder:
    """An encoder of its own for each (seed, step), with Glorot's uniform weights.

    The weights are the costliest random numbers of a step. Four of them, of 16 bits each, come out of one
    draw, at three times the speed of torch, by a function of numpy's that leaves other threads their turn.
    """
    draws = np.random.Generator(np.random.SFC64(derive(seed, "encoder", step)))
    weights = []
    for fan_in in (features, *[width] * (depth - 1)):
        size = fan_in * width
        raw = draws.integers(0, _LARGEST, -(-size // 4), np.uint64, endpoint=True)
        # The middles of 65,536 cells between -1 and 1.
        numbers = raw.view(np.int16)[:size].astype(np.float32)
        numbers += 0.5
        numbers *= math.sqrt(6 / (fan_in + width)) / 2**15
        weights.append(torch.from_numpy(numbers.reshape(fan_in, width)).to(device))
    return Encoder(weights, activation)
