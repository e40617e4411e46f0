"""S, as it is handed to the user."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor
from torch.utils.data import TensorDataset

from lqm.condensed.artefact import Manifest, read_artefact, write_artefact, write_manifest


@dataclass(frozen=True)
class CondensedSet:
    """A small labelled set that stands in for a large one.

    Attributes:
        images: pixels in [0, 1], [M, C, H, W].
        labels: class numbers, [M].
        class_names: what the numbers mean.
        manifest: where it comes from, how it was made, how to use it, and what it scored.
        path: the folder that it was loaded from or saved to.
    """

    images: Tensor
    labels: Tensor
    class_names: tuple[str, ...]
    manifest: Manifest = field(repr=False)
    path: Path | None = field(default=None, compare=False)

    def dataset(self) -> TensorDataset:
        """Pictures and labels, normalised as the manifest says: train on it without further preprocessing."""
        return TensorDataset(self.normalised(self.images), self.labels)

    def normalised(self, images: Tensor) -> Tensor:
        """Bring pixels in [0, 1], of this set or of a test set, to what a network is to be fed."""
        preprocessing = self.manifest["preprocessing"]
        mean, std = (torch.tensor(preprocessing[name]).view(-1, 1, 1) for name in ("mean", "std"))
        return (images - mean) / std

    def save(self, path: str | Path) -> "CondensedSet":
        """Write to a folder; returns the set as it is known by that folder.

        Raises:
            ArtifactError: when the folder can't be written or holds something else.
        """
        tensors = {"images": self.images, "labels": self.labels}
        write_artefact(Path(path), tensors, self.manifest | {"class_names": list(self.class_names)})
        return replace(self, path=Path(path))

    def with_score(self, score: Manifest) -> "CondensedSet":
        """Add a score to the manifest, in place of one by the same protocol; on disk too if it was saved."""
        others = [s for s in self.manifest.get("scores", []) if s["protocol"] != score["protocol"]]
        if self.path is None:
            return replace(self, manifest=self.manifest | {"scores": [*others, score]})
        _, stored = read_artefact(self.path)
        stored["scores"] = [*others, score]
        write_manifest(self.path, stored)
        return replace(self, manifest=stored)


def load(path: str | Path) -> CondensedSet:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    tensors, manifest = read_artefact(Path(path))
    return CondensedSet(
        tensors["images"], tensors["labels"], tuple(manifest["class_names"]), manifest, Path(path)
    )
