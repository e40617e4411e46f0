"""What every network has: latent features, and a linear layer that names the class."""

from typing import ClassVar

from torch import Tensor, nn


class Network(nn.Module):
    """A network in two parts, made of the shape of an image (channels, height, width) and the classes.

    Attributes:
        title: its name in tables, with options of its constructor in braces.
        features: images [B, C, H, W] to latent features [B, F].
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
