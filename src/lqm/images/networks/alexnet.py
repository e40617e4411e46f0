"""AlexNet for small images."""

from typing import ClassVar

from torch import nn

from lqm.images.networks.layers import may_halve
from lqm.methods.networks import Network


class AlexNet(Network):
    """AlexNet (Krizhevsky et al. 2012) as the field shrinks it: five convolutions, no norm, one linear layer.

    Grey images of 28x28 are padded to 32x32.
    """

    title: ClassVar[str] = "AlexNet"

    def __init__(self, shape: tuple[int, int, int], classes: int) -> None:
        super().__init__()
        channels, size, _ = shape
        padding = 4 if (channels, size) == (1, 28) else 2
        size += 2 * padding - 4
        layers: list[nn.Module] = []
        for width in (128, 192):
            layers += [nn.Conv2d(channels, width, kernel_size=5, padding=padding), nn.ReLU()]
            if may_halve(size):
                layers.append(nn.MaxPool2d(2))
                size //= 2
            channels, padding = width, 2
        for width in (256, 192, 192):
            layers += [nn.Conv2d(channels, width, kernel_size=3, padding=1), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*layers, nn.MaxPool2d(2), nn.Flatten())
        self.classifier = nn.Linear(channels * (size // 2) ** 2, classes)
