"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from pathlib import Path

from lqm.condensed.artefact import read_artefact
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.nodes import CondensedNodes
from lqm.condensed.pictures import CondensedPictures

__all__ = ["CondensedNodes", "CondensedPictures", "CondensedSet", "load"]


def load(path: str | Path) -> CondensedPictures | CondensedNodes:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    tensors, manifest = read_artefact(Path(path))
    kind = CondensedPictures if CondensedPictures.holds in tensors else CondensedNodes
    return kind.of_tensors(tensors, manifest, Path(path))
