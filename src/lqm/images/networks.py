"""phi: networks that turn pictures into latent features."""

import torch
from torch import Tensor, nn

_CHUNK = 256


class ConvNet(nn.Module):
    """The field's ConvNet: blocks of convolution, instance norm, ReLU and pooling, then a linear layer.

    Three blocks of width 128 at 32x32 give 2,048 latent features. Instance norm is a GroupNorm with one group
    a channel, so training and evaluation mode are the same. Weights start as torch's layers start.

    Args:
        shape: channels, height and width of a picture; square, at least 2**depth wide.
        classes: number of classes.
        width: channels of each block.
        depth: number of blocks.
    """

    def __init__(self, shape: tuple[int, int, int], classes: int, width: int = 128, depth: int = 3) -> None:
        super().__init__()
        channels, size, _ = shape
        layers: list[nn.Module] = []
        for block in range(depth):
            # 28x28 is padded to 32x32, as the field does for MNIST.
            padding = 3 if block == 0 and size == 28 else 1
            size = (size + 2 * padding - 2) // 2
            layers += [
                nn.Conv2d(channels, width, kernel_size=3, padding=padding),
                nn.GroupNorm(width, width),
                nn.ReLU(),
                nn.AvgPool2d(2),
            ]
            channels = width
        self.features = nn.Sequential(*layers, nn.Flatten())
        self.classifier = nn.Linear(width * size * size, classes)

    def embed(self, images: Tensor) -> Tensor:
        """Latent features: what the last pooling gives, flattened, [B, F]."""
        features: Tensor = self.features(images)
        return features

    def forward(self, images: Tensor) -> Tensor:
        """Logits, [B, classes]."""
        logits: Tensor = self.classifier(self.embed(images))
        return logits


@torch.no_grad()
def embed_in_chunks(network: ConvNet, images: Tensor) -> Tensor:
    """Latent features without gradients, in memory that does not grow with the number of pictures."""
    return torch.cat([network.embed(chunk) for chunk in images.split(_CHUNK)])
