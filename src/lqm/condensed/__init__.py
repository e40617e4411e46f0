"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from pathlib import Path

from lqm.condensed.artefact import read_artefact
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes

__all__ = ["CondensedImages", "CondensedNodes", "CondensedSet", "load"]


def load(path: str | Path) -> CondensedImages | CondensedNodes:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    tensors, manifest = read_artefact(Path(path))
    kind = CondensedImages if CondensedImages.holds in tensors else CondensedNodes
    return kind.of_tensors(tensors, manifest, Path(path))
