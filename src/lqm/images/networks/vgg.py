"""VGG-11 for small images."""

from typing import ClassVar

from torch import nn

from lqm.images.networks.layers import Norm, first_padding, may_halve, norm_layers
from lqm.methods.networks import Network

_STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))


class VGG11(Network):
    """VGG-11 (Simonyan & Zisserman 2015) with norms and one linear layer; 512 latent features at 32x32."""

    title: ClassVar[str] = "VGG-11"

    def __init__(self, shape: tuple[int, int, int], classes: int, norm: Norm = "instance") -> None:
        super().__init__()
        channels, size, _ = shape
        padding = first_padding(size)
        size += 2 * padding - 2
        layers: list[nn.Module] = []
        for stage in _STAGES:
            if layers and may_halve(size):
                layers.append(nn.MaxPool2d(2))
                size //= 2
            for width in stage:
                layers += [
                    nn.Conv2d(channels, width, kernel_size=3, padding=padding),
                    *norm_layers(norm, width, size),
                    nn.ReLU(),
                ]
                channels, padding = width, 1
        self.features = nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten())
        self.classifier = nn.Linear(channels * (size // 2) ** 2, classes)
