"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from pathlib import Path

from lqm.condensed.artefact import read_settled
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.described import require_described
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes
from lqm.utils.paths import as_path

__all__ = ["CondensedImages", "CondensedNodes", "CondensedSet", "load", "load_described"]


def load(path: str | Path) -> CondensedImages | CondensedNodes:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    folder = as_path(path, "path")
    tensors, manifest = read_settled(folder)
    kind = CondensedImages if CondensedImages.holds in tensors else CondensedNodes
    return kind.of_tensors(tensors, manifest, folder)


def load_described(path: str | Path) -> CondensedImages | CondensedNodes:
    """The same, of a set that says how it was made and what it scored, which evaluations and pages need."""
    condensed = load(path)
    require_described(condensed.manifest, condensed.path)
    return condensed
