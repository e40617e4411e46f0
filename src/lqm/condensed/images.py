"""A condensed set of images."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.mosaic import expand
from lqm.condensed.tensors import SOFT_LABELS
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import require_memory
from lqm.utils.pixels import pixels


@dataclass(frozen=True, eq=False)
class CondensedImages(CondensedSet):
    """Images, with what a network is to be fed in their place."""

    soft_labels: Tensor | None = field(default=None, repr=False)

    holds = "images"

    def tensors(self) -> dict[str, Tensor]:
        """Images, labels, and the soft labels if there are any."""
        return super().tensors() | ({} if self.soft_labels is None else {SOFT_LABELS: self.soft_labels})

    @classmethod
    def of_tensors(cls, tensors: dict[str, Tensor], manifest: Manifest, path: Path) -> Self:
        """The set that was written as these tensors."""
        return replace(super().of_tensors(tensors, manifest, path), soft_labels=tensors.get(SOFT_LABELS))

    def taught_by(self, learning_rate: float, soft_labels: Tensor | None) -> Self:
        """The same set, to be learned at a rate of its own, and by soft labels if there are any."""
        training = {"learning_rate": learning_rate, SOFT_LABELS: soft_labels is not None}
        return replace(self, soft_labels=soft_labels, manifest=self.manifest | {"training": training})

    @property
    def learning_rate(self) -> float | None:
        """The rate of SGD that was learned with the images, at which they are to be learned from."""
        found: float | None = self.manifest.get("training", {}).get("learning_rate")
        return found

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
        """The records, normalised as the manifest says: train on it without further preprocessing.

        Labels are `targets()`. Where a set has a `learning_rate`, train at that.
        """
        images, _ = self.records()
        return TensorDataset(self.normalised(images), self.targets())

    def targets(self) -> Tensor:
        """What a network is to answer to the records: shares of all classes, [R, C], or classes, [R]."""
        if self.soft_labels is None:
            return self.records()[1]
        return self.soft_labels.repeat_interleave(self.manifest.get("mosaic", 1) ** 2, dim=0)

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
