"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from pathlib import Path

from torch import Tensor

from lqm.condensed.artefact import Manifest, read_artefact
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes

__all__ = ["CondensedImages", "CondensedNodes", "CondensedSet", "load", "set_of"]


def load(path: str | Path) -> CondensedImages | CondensedNodes:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    return set_of(*read_artefact(Path(path)), Path(path))


def set_of(
    tensors: dict[str, Tensor], manifest: Manifest, path: Path | None
) -> CondensedImages | CondensedNodes:
    """The set, of images or of nodes, that was written as these tensors."""
    kind = CondensedImages if CondensedImages.holds in tensors else CondensedNodes
    return kind.of_tensors(tensors, manifest, path)
