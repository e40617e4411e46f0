"""S, as it is handed to the user."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from torch import Tensor

from lqm.condensed.artefact import (
    Manifest,
    changing,
    read_artefact,
    require_free,
    write_artefact,
    write_manifest,
)
from lqm.condensed.history import METRICS, History, as_history
from lqm.condensed.shown import made_by, set_html
from lqm.utils.errors import ArtifactError
from lqm.utils.lines import read_lines
from lqm.utils.paths import as_path
from lqm.utils.places import note_places, without_places
from lqm.utils.sentences import counted


@dataclass(frozen=True, eq=False, repr=False)
class CondensedSet:
    """A labelled set that stands in for a larger one; `CondensedImages` or `CondensedNodes`.

    Attributes:
        data: the records, [M, ...].
        labels: class numbers, [M].
        class_names: what the numbers mean.
        manifest: where it comes from, how it was made, how to use it, and what it scored.
        path: the folder that it was loaded from or saved to.
        logged: what the steps of a run without a folder have logged.
        real: the source that it was made of, if that was handed over in Python and only this program has it.
    """

    data: Tensor
    labels: Tensor
    class_names: tuple[str, ...]
    manifest: Manifest
    path: Path | None = None
    logged: tuple[Mapping[str, float], ...] = field(default=(), kw_only=True)
    real: Any = field(default=None, kw_only=True)

    holds: ClassVar[str]

    def __len__(self) -> int:
        return len(self.labels)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        made, shape = made_by(self.manifest), [*self.data.shape[1:]]
        size = "x".join(map(str, shape)) if len(shape) > 1 else f"{shape[0]:,} features"
        classes = counted(len(self.labels[self.labels >= 0].unique()), "class", "classes")
        words = (f"{len(self):,} of {classes}", size, made)
        return f"{type(self).__name__}({', '.join(filter(None, words))})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the images of the set or its classes, and what it scored."""
        known = self.labels[self.labels >= 0]
        counts = known.bincount(minlength=len(self.class_names)).tolist()
        by_class = dict(zip(self.class_names, counts, strict=False))
        return set_html(repr(self), self.drawing(), self.manifest, by_class)

    def drawing(self) -> str:
        """The set as an image in HTML, if it can be seen; a part of it if it is large."""
        return ""

    @property
    def history(self) -> History:
        """What the run has logged of each step: `step`, from 1, `loss`, `seconds` and more, [steps] each."""
        lines = (read_lines(self.path / METRICS) if self.path else None) or self.logged
        steps = self.manifest.get("steps")
        return as_history([line for line in lines if not isinstance(steps, int) or line["step"] < steps])

    def prepared(self, source: Any) -> Any:
        """The real data, whose records networks are fed as they are fed those of this set."""
        return source

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
        folder = as_path(path, "path")
        require_free(folder)
        return self.write(folder)

    def write(self, folder: Path) -> Self:
        """Write to a folder that may be written to, such as that of the run which made the set."""
        manifest = to_give_away(self.manifest) | {"class_names": list(self.class_names)}
        return replace(self, manifest=write_artefact(folder, self.tensors(), manifest), path=folder)

    def with_score(self, score: Manifest) -> Self:
        """Add a score to the manifest, in place of one by the same protocol and seed; on disk too if saved.

        What baselines scored beside it is kept, unless it has been found anew.

        Raises:
            ArtifactError: when the saved set can't be written, or is no longer this one.
        """
        return self._with_change(lambda manifest: _scored(manifest, score))

    def with_audit(self, audit: Manifest) -> Self:
        """Put what an audit found into the manifest, in place of an older one; on disk too if saved.

        Raises:
            ArtifactError: when the saved set can't be written, or is no longer this one.
        """
        return self._with_change(lambda manifest: manifest | {"audit": audit})

    def _with_change(self, change: Callable[[Manifest], Manifest]) -> Self:
        """The set with a changed manifest; on disk too if saved."""
        if self.path is None:
            return replace(self, manifest=change(self.manifest))
        if not self.path.is_dir():
            raise ArtifactError(f"{self.path} is no longer there, and so nothing is noted of it")
        with changing(self.path):
            manifest = read_artefact(self.path)[1]
            if manifest.get("data") != self.manifest.get("data"):
                raise ArtifactError(f"{self.path} holds another set than it did; its manifest is left alone")
            manifest = change(manifest)
            write_manifest(self.path, manifest)
        return replace(self, manifest=manifest)


def to_give_away(manifest: Manifest) -> Manifest:
    """A manifest that does not say where on this machine the data stand; the cache says it in its place."""
    origin = manifest.get("origin")
    if origin is None:
        return manifest
    note_places(origin, manifest.get("source", {}).get("fingerprint", ""))
    return manifest | {"origin": without_places(origin)}


def _scored(manifest: Manifest, score: Manifest) -> Manifest:
    """A manifest with one more score; see `with_score`."""
    others, baselines = [], dict(score.get("baselines", {}))
    for before in manifest.get("scores", []):
        if (before["protocol"], before["seed"]) == (score["protocol"], score["seed"]):
            baselines = before.get("baselines", {}) | baselines
        else:
            others.append(before)
    whole = score | ({"baselines": baselines} if baselines else {})
    return manifest | {"scores": [*others, whole]}
