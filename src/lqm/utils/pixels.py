"""Stored images, and images as numbers to compute with."""

from torch import Tensor


def pixels(images: Tensor) -> Tensor:
    """Images as floats in [0, 1], out of uint8 or of such floats."""
    return images if images.is_floating_point() else images.float() / 255
