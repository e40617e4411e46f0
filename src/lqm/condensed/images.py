"""A condensed set of images."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.mosaic import expand
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import require_memory
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
        require_memory(factor**2 * self.images.nbytes, f"what the mosaics in {self.path or 'this set'} hold")
        return expand(self.images, factor), self.labels.repeat_interleave(factor**2)

    def dataset(self) -> TensorDataset:
        """The records, normalised as the manifest says: train on it without further preprocessing."""
        images, labels = self.records()
        return TensorDataset(self.normalised(images), labels)

    @property
    def preprocessing(self) -> dict[str, list[float]]:
        """By which mean and standard deviation of each channel the images are normalised.

        Raises:
            ArtifactError: when the manifest does not say it.
        """
        if "preprocessing" not in self.manifest:
            where = f"the manifest in {self.path}" if self.path else "the manifest of this set"
            raise ArtifactError(
                f"{where} says no 'preprocessing'; it should say the mean and std of each channel"
            )
        found: dict[str, list[float]] = self.manifest["preprocessing"]
        return found

    def normalised(self, images: Tensor) -> Tensor:
        """Bring pixels, in [0, 1] or uint8, of this set or of a test set, to what a network is to be fed."""
        preprocessing = self.preprocessing
        shown = pixels(images)
        mean, std = (torch.tensor(preprocessing[name]).view(-1, 1, 1).to(shown) for name in ("mean", "std"))
        if shown.shape[-3:-2] != mean.shape[:1]:
            raise DataError(
                f"images of shape {list(images.shape)} can't be normalised like this set; "
                f"they should be [N, {len(mean)}, H, W]"
            )
        return (shown - mean) / std
