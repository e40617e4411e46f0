"""LeNet."""

from typing import ClassVar

from torch import nn

from lqm.methods.networks import Network

_SMALL = 16


class LeNet(Network):
    """LeNet-5 (LeCun et al. 1998) with ReLU and max pooling; 84 latent features.

    Grey images are padded by 2, as 28x28 is meant to be. Images below 16x16 are padded by 2 before both
    convolutions, which would leave nothing of them otherwise.
    """

    title: ClassVar[str] = "LeNet"

    def __init__(self, shape: tuple[int, int, int], classes: int) -> None:
        super().__init__()
        channels, size, _ = shape
        first = 2 if channels == 1 or size < _SMALL else 0
        second = 2 if size < _SMALL else 0
        for padding in (first, second):
            size = (size + 2 * padding - 4) // 2
        self.features = nn.Sequential(
            nn.Conv2d(channels, 6, kernel_size=5, padding=first),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, kernel_size=5, padding=second),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(16 * size * size, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
        )
        self.classifier = nn.Linear(84, classes)
