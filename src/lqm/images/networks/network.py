"""What every network has: latent features, and a linear layer that names the class."""

from typing import ClassVar

import torch
from torch import Tensor, nn

_CHUNK = 256
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)


class Network(nn.Module):
    """A network in two parts.

    Attributes:
        title: its name in tables, with options of its constructor in braces.
        features: pictures [B, C, H, W] to latent features [B, F].
        classifier: latent features to logits, [B, classes].
    """

    title: ClassVar[str] = "network"
    features: nn.Module
    classifier: nn.Module

    def embed(self, images: Tensor) -> Tensor:
        """Latent features: what the classifier is fed, [B, F]."""
        features: Tensor = self.features(images)
        return features

    def forward(self, images: Tensor) -> Tensor:
        """Logits, [B, classes]."""
        logits: Tensor = self.classifier(self.embed(images))
        return logits


def chunks(network: Network, images: Tensor) -> tuple[Tensor, ...]:
    """Pictures in parts that fit the memory; all at once if the network normalises by its batch."""
    by_batch = network.training and any(isinstance(m, _BATCH_NORMS) for m in network.modules())
    parts: tuple[Tensor, ...] = images.split(len(images) if by_batch else _CHUNK)
    return parts


@torch.no_grad()
def embed_in_chunks(network: Network, images: Tensor) -> Tensor:
    """Latent features without gradients, in memory that does not grow with the number of pictures."""
    return torch.cat([network.embed(chunk) for chunk in chunks(network, images)])
