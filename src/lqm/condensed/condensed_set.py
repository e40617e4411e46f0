"""S, as it is handed to the user."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest, read_artefact, require_free, write_artefact, write_manifest
from lqm.condensed.mosaic import expand
from lqm.errors import ArtifactError, DataError
from lqm.pixels import pixels


@dataclass(frozen=True, eq=False)
class CondensedSet:
    """A small labelled set that stands in for a large one.

    Attributes:
        images: pixels in [0, 1], [M, C, H, W]; `records` says what to train on.
        labels: class numbers, [M].
        class_names: what the numbers mean.
        manifest: where it comes from, how it was made, how to use it, and what it scored.
        path: the folder that it was loaded from or saved to.
    """

    images: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)
    class_names: tuple[str, ...]
    manifest: Manifest = field(repr=False)
    path: Path | None = None

    def records(self) -> tuple[Tensor, Tensor]:
        """Pictures and labels to train on, in [0, 1]: `images`, or the cells of these if they are mosaics."""
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
                f"pictures of shape {list(images.shape)} can't be normalised like this set; "
                f"they should be [N, {len(mean)}, H, W]"
            )
        return (shown - mean) / std

    def save(self, path: str | Path) -> "CondensedSet":
        """Write to a folder, in place of a set that is there; returns the set as it is known by that folder.

        Raises:
            ArtifactError: when the folder can't be written or holds something else.
        """
        require_free(Path(path))
        return self.write(Path(path))

    def write(self, folder: Path) -> "CondensedSet":
        """Write to a folder that may be written to, such as that of the run which made the set."""
        tensors = {"images": self.images, "labels": self.labels}
        manifest = write_artefact(folder, tensors, self.manifest | {"class_names": list(self.class_names)})
        return replace(self, manifest=manifest, path=folder)

    def with_score(self, score: Manifest) -> "CondensedSet":
        """Add a score to the manifest, in place of one by the same protocol and seed; on disk too if saved.

        Raises:
            ArtifactError: when the saved set can't be written, or is no longer this one.
        """
        manifest = self.manifest if self.path is None else read_artefact(self.path)[1]
        if manifest.get("data") != self.manifest.get("data"):
            raise ArtifactError(f"{self.path} holds another set than it did; its scores are left alone")
        others = [
            s
            for s in manifest.get("scores", [])
            if (s["protocol"], s["seed"]) != (score["protocol"], score["seed"])
        ]
        manifest = manifest | {"scores": [*others, score]}
        if self.path is not None:
            write_manifest(self.path, manifest)
        return replace(self, manifest=manifest)


def load(path: str | Path) -> CondensedSet:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    tensors, manifest = read_artefact(Path(path))
    return CondensedSet(
        tensors["images"], tensors["labels"], tuple(manifest["class_names"]), manifest, Path(path)
    )
