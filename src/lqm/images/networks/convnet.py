"""The field's ConvNet."""

from typing import ClassVar

from torch import nn

from lqm.images.networks.layers import (
    ACTIVATIONS,
    POOLINGS,
    Activation,
    Norm,
    Pooling,
    first_padding,
    norm_layers,
)
from lqm.methods.networks import Network
from lqm.utils.errors import ConfigError


class ConvNet(Network):
    """Blocks of convolution, norm, activation and pooling, then a linear layer (Gidaris & Komodakis 2018).

    Three blocks (`depth`) of 128 channels (`width`) at 32x32 give 2,048 latent features.
    """

    title: ClassVar[str] = "ConvNet-{depth} of width {width}"

    def __init__(
        self,
        shape: tuple[int, int, int],
        classes: int,
        width: int = 128,
        depth: int = 3,
        norm: Norm = "instance",
        activation: Activation = "relu",
        pooling: Pooling = "average",
    ) -> None:
        super().__init__()
        channels, size, _ = shape
        padding = first_padding(size)
        size += 2 * padding - 2
        largest = size.bit_length() - 1
        if pooling != "none" and depth > largest:
            raise ConfigError(
                f"a ConvNet of depth {depth} halves images of {shape[1]}x{shape[2]} to nothing; "
                f"the largest depth that works is {largest}"
            )
        layers: list[nn.Module] = []
        for _ in range(depth):
            layers += [
                nn.Conv2d(channels, width, kernel_size=3, padding=padding),
                *norm_layers(norm, width, size),
                ACTIVATIONS[activation](),
                *([POOLINGS[pooling](2)] if pooling != "none" else []),
            ]
            channels, padding = width, 1
            size = size if pooling == "none" else size // 2
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.classifier = nn.Linear(width * size * size, classes)
