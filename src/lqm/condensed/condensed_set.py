"""S, as it is handed to the user."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

from torch import Tensor

from lqm.condensed.artefact import Manifest, read_artefact, require_free, write_artefact, write_manifest
from lqm.utils.errors import ArtifactError


@dataclass(frozen=True, eq=False)
class CondensedSet:
    """A labelled set that stands in for a larger one; `CondensedImages` or `CondensedNodes`.

    Attributes:
        data: the records, [M, ...].
        labels: class numbers, [M].
        class_names: what the numbers mean.
        manifest: where it comes from, how it was made, how to use it, and what it scored.
        path: the folder that it was loaded from or saved to.
    """

    data: Tensor = field(repr=False)
    labels: Tensor = field(repr=False)
    class_names: tuple[str, ...]
    manifest: Manifest = field(repr=False)
    path: Path | None = None

    holds: ClassVar[str]

    def tensors(self) -> dict[str, Tensor]:
        """What is written to the tensor file, by name."""
        return {self.holds: self.data, "labels": self.labels}

    @classmethod
    def of_tensors(cls, tensors: dict[str, Tensor], manifest: Manifest, path: Path) -> Self:
        """The set that was written as these tensors."""
        return cls(tensors[cls.holds], tensors["labels"], tuple(manifest["class_names"]), manifest, path)

    def save(self, path: str | Path) -> Self:
        """Write to a folder, in place of a set that is there; returns the set as it is known by that folder.

        Raises:
            ArtifactError: when the folder can't be written or holds something else.
        """
        require_free(Path(path))
        return self.write(Path(path))

    def write(self, folder: Path) -> Self:
        """Write to a folder that may be written to, such as that of the run which made the set."""
        manifest = self.manifest | {"class_names": list(self.class_names)}
        return replace(self, manifest=write_artefact(folder, self.tensors(), manifest), path=folder)

    def with_score(self, score: Manifest) -> Self:
        """Add a score to the manifest, in place of one by the same protocol and seed; on disk too if saved.

        What baselines scored beside it is kept, unless it has been found anew.

        Raises:
            ArtifactError: when the saved set can't be written, or is no longer this one.
        """

        def added(manifest: Manifest) -> Manifest:
            others, baselines = [], dict(score.get("baselines", {}))
            for before in manifest.get("scores", []):
                if (before["protocol"], before["seed"]) == (score["protocol"], score["seed"]):
                    baselines = before.get("baselines", {}) | baselines
                else:
                    others.append(before)
            whole = score | ({"baselines": baselines} if baselines else {})
            return {"scores": [*others, whole]}

        return self._with_change(added)

    def with_audit(self, audit: Manifest) -> Self:
        """Put what an audit found into the manifest, in place of an older one; on disk too if saved.

        Raises:
            ArtifactError: when the saved set can't be written, or is no longer this one.
        """
        return self._with_change(lambda manifest: {"audit": audit})

    def _with_change(self, change: Callable[[Manifest], Manifest]) -> Self:
        """The set with some entries of its manifest replaced; on disk too if saved."""
        manifest = self.manifest if self.path is None else read_artefact(self.path)[1]
        if manifest.get("data") != self.manifest.get("data"):
            raise ArtifactError(f"{self.path} holds another set than it did; its manifest is left alone")
        manifest = manifest | change(manifest)
        if self.path is not None:
            write_manifest(self.path, manifest)
        return replace(self, manifest=manifest)
