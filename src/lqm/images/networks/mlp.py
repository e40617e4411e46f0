"""The multilayer perceptron."""

from math import prod
from typing import ClassVar

from torch import nn

from lqm.methods.networks import Network


class MLP(Network):
    """Two hidden layers of `width` units with ReLU over the flat image."""

    title: ClassVar[str] = "MLP of width {width}"

    def __init__(self, shape: tuple[int, int, int], classes: int, width: int = 128) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Flatten(), nn.Linear(prod(shape), width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.classifier = nn.Linear(width, classes)
