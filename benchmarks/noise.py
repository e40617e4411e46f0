"""Images to time steps on."""

import torch

from lqm.images.sources import Images, ImageSource


def noise(classes: int = 10, of_each: int = 500, size: int = 32) -> ImageSource:
    """Images without content: how long a step takes does not depend on it."""
    labels = torch.arange(classes).repeat_interleave(of_each)
    images = torch.randint(0, 256, (len(labels), 3, size, size), dtype=torch.uint8)
    images = Images(images, labels)
    return ImageSource("noise", images, images, tuple(map(str, range(classes))))
