"""ResNet-18 for small images."""

from typing import ClassVar

from torch import Tensor, nn

from lqm.images.networks.layers import Norm, may_halve, norm_layers
from lqm.methods.networks import Network

_WIDTHS = (64, 128, 256, 512)


class ResNet18(Network):
    """ResNet-18 (He et al. 2016) with a 3x3 stem and no pooling after it; 512 latent features.

    Unlike the field's other networks it does not pad images of 28x28 to 32x32.
    """

    title: ClassVar[str] = "ResNet-18"

    def __init__(self, shape: tuple[int, int, int], classes: int, norm: Norm = "instance") -> None:
        super().__init__()
        channels, size, _ = shape
        width = _WIDTHS[0]
        layers = [
            nn.Conv2d(channels, width, kernel_size=3, padding=1, bias=norm == "none"),
            *norm_layers(norm, width, size),
            nn.ReLU(),
        ]
        channels = width
        for width in _WIDTHS:
            stride = 2 if width > channels and may_halve(size) else 1
            size = -(-size // stride)
            layers += [_Block(channels, width, stride, size, norm), _Block(width, width, 1, size, norm)]
            channels = width
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.classifier = nn.Linear(channels, classes)


class _Block(nn.Module):
    """relu(residual(x) + shortcut(x)): two convolutions beside the map itself or a 1x1 convolution."""

    def __init__(self, channels: int, width: int, stride: int, size: int, norm: Norm) -> None:
        super().__init__()
        bias = norm == "none"
        self.residual = nn.Sequential(
            nn.Conv2d(channels, width, kernel_size=3, stride=stride, padding=1, bias=bias),
            *norm_layers(norm, width, size),
            nn.ReLU(),
            nn.Conv2d(width, width, kernel_size=3, padding=1, bias=bias),
            *norm_layers(norm, width, size),
        )
        self.shortcut: nn.Module = nn.Identity()
        if channels != width:
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels, width, kernel_size=1, stride=stride, bias=bias),
                *norm_layers(norm, width, size),
            )
        self.activation = nn.ReLU()

    def forward(self, maps: Tensor) -> Tensor:
        """Maps [B, channels, H, W] to [B, width, H / stride, W / stride]."""
        activated: Tensor = self.activation(self.residual(maps) + self.shortcut(maps))
        return activated
