"""What the networks are built of, by name."""

from collections.abc import Callable
from typing import Literal

from torch import nn

from lqm.utils.errors import ConfigError

Norm = Literal["instance", "batch", "group", "layer", "none"]
Activation = Literal["relu", "leaky", "sigmoid", "swish"]
Pooling = Literal["average", "max", "none"]

ACTIVATIONS: dict[Activation, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "leaky": nn.LeakyReLU,
    "sigmoid": nn.Sigmoid,
    "swish": nn.SiLU,
}
POOLINGS: dict[Pooling, Callable[[int], nn.Module]] = {"average": nn.AvgPool2d, "max": nn.MaxPool2d}
_GROUPS = 4


def norm_layers(norm: Norm, channels: int, size: int) -> list[nn.Module]:
    """The layer that normalises a map [channels, size, size], or no layer.

    Instance norm is a GroupNorm with one group a channel, so training and evaluation mode are the same.
    """
    match norm:
        case "instance":
            return [nn.GroupNorm(channels, channels)]
        case "batch":
            return [nn.BatchNorm2d(channels)]
        case "group":
            if channels % _GROUPS:
                raise ConfigError(
                    f"group norm has {_GROUPS} groups, which {channels} channels don't fall into; "
                    f"choose a width that {_GROUPS} divides"
                )
            return [nn.GroupNorm(_GROUPS, channels)]
        case "layer":
            return [nn.LayerNorm([channels, size, size])]
        case "none":
            return []


def first_padding(size: int) -> int:
    """The padding of a first 3x3 convolution: 28x28 becomes 32x32, as the field does for MNIST."""
    return 3 if size == 28 else 1


def may_halve(size: int) -> bool:
    """Whether a map inside a network may be halved: instance norm would leave nothing of a 1x1 map."""
    return size >= 4
