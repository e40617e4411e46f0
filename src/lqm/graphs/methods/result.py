"""Nodes of a method as the set that is handed to the user."""

from collections.abc import Sequence

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes


def as_condensed(features: Tensor, counts: Sequence[int], class_names: Sequence[str]) -> CondensedNodes:
    """The set of these nodes, [sum of counts, F], class after class; no edges."""
    labels = torch.arange(len(counts)).repeat_interleave(torch.tensor(counts))
    return CondensedNodes(features, labels, tuple(class_names), {})
