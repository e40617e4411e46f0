"""S in S* = argmin D(phi(T), phi(S)): the synthetic set, in memory and as files."""

from collections.abc import Mapping
from pathlib import Path

from torch import Tensor

from lqm.condensed.artefact import read_settled
from lqm.condensed.condensed_set import CondensedSet
from lqm.condensed.described import require_described
from lqm.condensed.images import CondensedImages
from lqm.condensed.nodes import CondensedNodes
from lqm.condensed.table import CondensedTable
from lqm.condensed.tensors import kind_of
from lqm.utils.paths import as_path

__all__ = [
    "CondensedImages",
    "CondensedNodes",
    "CondensedSet",
    "CondensedTable",
    "class_of",
    "load",
    "load_described",
]

_KINDS = {kind.holds: kind for kind in (CondensedImages, CondensedNodes, CondensedTable)}


def class_of(tensors: Mapping[str, Tensor]) -> type[CondensedImages | CondensedNodes | CondensedTable]:
    """The class of the set that was written as these tensors."""
    return _KINDS[kind_of(tensors)]


def load(path: str | Path) -> CondensedImages | CondensedNodes | CondensedTable:
    """Read a condensed set, after checking that no byte of it has changed.

    Raises:
        ArtifactError: when there is none, or it is damaged.
    """
    folder = as_path(path, "path")
    tensors, manifest = read_settled(folder)
    return class_of(tensors).of_tensors(tensors, manifest, folder)


def load_described(path: str | Path) -> CondensedImages | CondensedNodes | CondensedTable:
    """The same, of a set that says how it was made and what it scored, which evaluations and pages need."""
    condensed = load(path)
    require_described(condensed.manifest, condensed.path)
    return condensed
