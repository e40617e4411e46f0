"""A condensed set of images."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.mosaic import expand
from lqm.utils.errors import DataError
from lqm.utils.pixels import pixels


@dataclass(frozen=True, eq=False)
class CondensedImages(CondensedSet):
    """Images, with what a network is to be fed in their place."""

    holds = "images"

    @property
    def images(self) -> Tensor:
        """Pixels in [0, 1], [M, C, H, W]; `records` says what to train on."""
        return self.data

    def records(self) -> tuple[Tensor, Tensor]:
        """Images and labels to train on, in [0, 1]: `images`, or the cells of these if they are mosaics."""
        factor = self.manifest.get("mosaic", 1)
        return expand(self.images, factor), self.labels.repeat_interleave(factor**2)

    def dataset(self) -> TensorDataset:
        """The records, normalised as the manifest says: train on it without further preprocessing."""
        images, labels = self.records()
        return TensorDataset(self.normalised(images), labels)

    def normalised(self, images: Tensor) -> Tensor:
        """Bring pixels, in [0, 1] or uint8, of this set or of a test set, to what a network is to be fed."""
        preprocessing = self.manifest["preprocessing"]
        shown = pixels(images)
        mean, std = (torch.tensor(preprocessing[name]).view(-1, 1, 1).to(shown) for name in ("mean", "std"))
        if shown.shape[-3:-2] != mean.shape[:1]:
            raise DataError(
                f"images of shape {list(images.shape)} can't be normalised like this set; "
                f"they should be [N, {len(mean)}, H, W]"
            )
        return (shown - mean) / std
