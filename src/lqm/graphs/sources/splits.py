"""Training, validation and test nodes."""

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.utils.errors import DataError
from lqm.utils.sentences import counted

MASKS = ("train_mask", "val_mask", "test_mask")

_HELD_OUT = 0.2


class Split(NamedTuple):
    """Numbers of nodes, int64; a published one is unchecked until `published_split` has seen it."""

    train: Tensor
    validation: Tensor
    test: Tensor

    def check_range(self, nodes: int, name: str) -> None:
        """Refuse numbers that are not those of nodes."""
        for part, numbers in self._asdict().items():
            if ((numbers < 0) | (numbers >= nodes)).any():
                raise DataError(f"the {part} nodes of '{name}' are not all among its {nodes} nodes")


def split_of_masks(masks: dict[str, Any], nodes: int, place: str) -> tuple[Split | None, tuple[str, ...]]:
    """The split of boolean masks, [N]; of several splits, [N, S], the first. `val_mask` may be missing."""
    if not masks:
        return None, ()
    masks = {"val_mask": np.zeros(nodes, bool), **masks}
    notes: tuple[str, ...] = ()
    parts = []
    for name in MASKS:
        if name not in masks:
            raise DataError(
                f"{place} has no {name}, but another mask; there should be both or none, or give split "
                "random (--split random)"
            )
        mask = np.asarray(masks[name])
        if mask.ndim == 2 and mask.shape[1]:
            notes = (f"of {mask.shape[1]} published splits the first is used",)
            mask = mask[:, 0]
        if mask.dtype != bool or mask.shape != (nodes,):
            raise DataError(
                f"{name} of {place} has shape {list(mask.shape)} and type {mask.dtype}; "
                f"with {nodes} labels it should be [{nodes}] and bool"
            )
        parts.append(torch.from_numpy(mask.nonzero()[0]))
    return Split(*parts), notes


def published_split(
    published: Split, labels: Tensor, class_names: tuple[str, ...], name: str
) -> tuple[Split, tuple[str, ...]]:
    """The published split without the nodes that have no label."""
    published.check_range(len(labels), name)
    kept = Split(*(nodes[labels[nodes] >= 0].sort().values for nodes in published))
    present = labels[kept.train].bincount(minlength=len(class_names))
    if (present == 0).any():
        raise DataError(
            f"the published split of '{name}' has no training node of class "
            f"'{class_names[int(present.argmin())]}'; give split random (--split random)"
        )
    if not len(kept.test):
        raise DataError(f"the published split of '{name}' has no labelled test node; give --split random")
    dropped = sum(len(nodes) for nodes in published) - sum(len(nodes) for nodes in kept)
    left_out = counted(dropped, "node", "nodes")
    return kept, (f"{left_out} of the published split without a label left out of it",) if dropped else ()


def random_split(labels: Tensor, name: str) -> Split:
    """60/20/20 of each class, the same in every run; what rounding leaves over goes to training."""
    draws = generator(0, "graph split")
    pieces: list[Split] = []
    by_class = labels.argsort(stable=True)[int((labels < 0).sum()) :]
    for members in by_class.split(labels[by_class].bincount().tolist()):
        shuffled = members[torch.randperm(len(members), generator=draws)]
        held_out = int(_HELD_OUT * len(members) + 0.5)
        test, validation, train = shuffled.split([held_out, held_out, len(members) - 2 * held_out])
        pieces.append(Split(train, validation, test))
    split = Split(*(torch.cat(part).sort().values for part in zip(*pieces, strict=True)))
    if not len(split.test):
        raise DataError(f"'{name}' has no class of three nodes or more, so none can be held out for testing")
    return split
