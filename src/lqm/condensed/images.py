"""A condensed set of images."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest
from lqm.condensed.channels import Channels
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.drawing import drawn_rows, encoded
from lqm.condensed.mosaic import expand
from lqm.condensed.tensors import SOFT_LABELS
from lqm.condensed.whitening import Whitening
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.html import png
from lqm.utils.limits import require_memory
from lqm.utils.pixels import pixels

# What a notebook shows of a set: so many classes, and images of each, of so many pixels at least.
_SHOWN_ROWS, _SHOWN_COLUMNS, _SHOWN_PIXELS = 20, 20, 24


@dataclass(frozen=True, eq=False, repr=False)
class CondensedImages(CondensedSet):
    """Images, with what a network is to be fed in their place.

    Attributes:
        whitening: what the images of a set that was made in whitened space go through, in place of mean and
            standard deviation.
        soft_labels: the shares of all classes that a network is to answer, if not the class: a row for each
            image, [M, classes], or for each record, [R, classes].
    """

    whitening: Whitening | None = None
    soft_labels: Tensor | None = None

    holds = "images"

    def __post_init__(self) -> None:
        if self.whitening is None and "kind" in self.manifest.get("preprocessing", {}):
            raise ArtifactError(
                "the manifest of this set says that its images are whitened, and the set has no whitening; "
                "give that of the set it comes from as whitening=..."
            )

    def taught_by(self, learning_rate: float | None, soft_labels: Tensor | None) -> Self:
        """The same set, to be learned at a rate of its own and by soft labels, if there are any."""
        rate = {} if learning_rate is None else {"learning_rate": learning_rate}
        training = {**rate, SOFT_LABELS: soft_labels is not None}
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

    def drawing(self) -> str:
        """The first images of the first classes, a row a class, inside of the HTML."""
        rows = [self.images[self.labels == label] for label in range(min(len(self.class_names), _SHOWN_ROWS))]
        alt = f"{len(self)} images, a row a class"
        return png(encoded(drawn_rows([row[:_SHOWN_COLUMNS] for row in rows], _SHOWN_PIXELS)), alt)

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
        own = self.labels if self.soft_labels is None else self.soft_labels
        records = len(self.labels) * self.manifest.get("mosaic", 1) ** 2
        return own.repeat_interleave(records // len(own), dim=0)

    @property
    def preprocessing(self) -> dict[str, Any]:
        """By which `mean` and `std` of each channel the images are normalised; or `kind` is `zca`, whitening.

        Raises:
            ArtifactError: when the manifest does not say it.
        """
        if "preprocessing" not in self.manifest:
            where = f"the manifest in {self.path}" if self.path else "the manifest of this set"
            raise ArtifactError(
                f"{where} says no 'preprocessing'; it should say the mean and std of each channel"
            )
        found: dict[str, Any] = self.manifest["preprocessing"]
        return found

    def normalised(self, images: Tensor) -> Tensor:
        """Bring pixels, in [0, 1] or uint8, of this set or of a test set, to what a network is to be fed."""
        shown = pixels(images)
        if self.whitening is not None:
            by: Channels | Whitening = self.whitening
            fits, wanted = shown.shape[-3:] == self.images.shape[1:], [*self.images.shape[1:]]
        else:
            mean, std = (torch.tensor(self.preprocessing[name]) for name in ("mean", "std"))
            by = Channels(mean, std)
            fits, wanted = shown.shape[-3:-2] == mean.shape, [len(mean), "H", "W"]
        if not fits:
            raise DataError(
                f"images of shape {list(images.shape)} can't be normalised like this set; "
                f"they should be [N, {', '.join(map(str, wanted))}]"
            )
        return by.apply(shown)

    def prepared(self, source: Any) -> Any:
        """The real images, which networks see whitened as they see those of this set, if they do."""
        return source if self.whitening is None else source.whitened(self.whitening)

    def tensors(self) -> dict[str, Tensor]:
        """What is written to the tensor file, by name."""
        soft = {} if self.soft_labels is None else {SOFT_LABELS: self.soft_labels}
        return super().tensors() | soft | (self.whitening.tensors() if self.whitening else {})

    @classmethod
    def of_tensors(cls, tensors: dict[str, Tensor], manifest: Manifest, path: Path) -> Self:
        """The set that was written as these tensors."""
        names, whitening = tuple(manifest["class_names"]), Whitening.of_tensors(tensors)
        soft = tensors.get(SOFT_LABELS)
        return cls(tensors["images"], tensors["labels"], names, manifest, path, whitening, soft)
