"""Images of a method as the set that is handed to the user."""

from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.images.sources import ImageSource


def as_condensed(images: Tensor, source: ImageSource, **manifest: Any) -> CondensedImages:
    """The set of these pixels in [0, 1], [classes, per_class, C, H, W], with the source's preprocessing."""
    classes, per_class = images.shape[:2]
    return CondensedImages(
        data=images.flatten(0, 1),
        labels=torch.arange(classes).repeat_interleave(per_class),
        class_names=source.class_names,
        manifest={"preprocessing": source.preprocessing, **manifest},
    )
