"""Frequencies that are learned: a network that looks for where two characteristic functions differ."""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.distances import Distance
from lqm.distances.amplitude import AmplitudePhase, characteristic
from lqm.distances.distance import Target
from lqm.distances.spread import mean_squared_distance
from lqm.engine.randomness import generator
from lqm.methods.problem import Problem
from lqm.methods.synthetic import Learnable
from lqm.utils.errors import ConfigError

_LAYERS, _LEAK, _FEWEST = 3, 0.2, 2


class Sampler:
    """Noise to frequencies: three linear layers, each with a batch norm, by LeakyReLU and a tanh at the end.

    Its weights are one tensor, which ascends the loss that the synthetic records descend.

    Args:
        features: of an encoder, so of a frequency.
        rate: of its SGD, with momentum 0.5.
        problem: has the seed and the device.
    """

    def __init__(self, features: int, rate: float, problem: Problem) -> None:
        self._features, self._seed = features, problem.seed
        self.learnable = Learnable(
            "sampler",
            self._init,
            lambda weights: torch.optim.SGD([weights], lr=rate, momentum=0.5, maximize=True),
            problem.device,
            moments="sampler_momentum",
            shape=(_LAYERS, features + 3, features),
        )

    def frequencies(self, noise: Tensor) -> Tensor:
        """Noise [F, P] to frequencies [F, P]."""
        rows = noise.T
        for number, layer in enumerate(self.learnable.tensor):
            weight, (bias, scale, shift) = layer[: self._features], layer[self._features :]
            rows = F.batch_norm(F.linear(rows, weight, bias), None, None, scale, shift, training=True)
            rows = F.leaky_relu(rows, _LEAK) if number < _LAYERS - 1 else rows.tanh()
        return rows.T

    def _init(self) -> Tensor:
        """Weights and biases as torch draws those of a linear layer, and norms that change nothing yet."""
        layers, size = torch.empty(_LAYERS, self._features + 3, self._features), self._features
        bound = 1 / math.sqrt(size)
        layers[:, : size + 1].uniform_(-bound, bound, generator=generator(self._seed, "sampler", 0))
        layers[:, size + 1], layers[:, size + 2] = 1.0, 0.0
        return layers


class LearnedFrequencies:
    """The distance of amplitude and phase, at the frequencies of a sampler.

    Raises:
        ConfigError: when it is another distance.
    """

    def __init__(self, usual: Distance, sampler: Sampler) -> None:
        if not isinstance(usual, AmplitudePhase):
            raise ConfigError(
                f"sampler = learned looks for frequencies, which the distance '{usual.name}' has not; give "
                "sampler = normal, or the distance ncfm"
            )
        if usual.frequencies < _FEWEST:
            raise ConfigError(
                f"sampler = learned makes at least {_FEWEST} frequencies, which its norms compare; "
                f"the distance '{usual.name}' has {usual.frequencies}"
            )
        self._usual, self._sampler, self.name = usual, sampler, usual.name

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """The noise [F, P], the scale [...], and the real records, which every loss looks at anew."""
        noise = torch.randn(real.shape[-1], self._usual.frequencies, generator=generator).to(real)
        return noise, mean_squared_distance(real), real

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """One difference a class, [...]."""
        noise, scale, real = target
        frequencies = self._sampler.frequencies(noise)
        sides = (characteristic(sample, frequencies) for sample in (real, synthetic))
        return scale * self._usual.difference(*sides)
