"""Which records of each class are held out."""

import math

import torch
from torch import Tensor

from lqm.engine.randomness import generator


def class_places(labels: Tensor, classes: int) -> tuple[Tensor, ...]:
    """The places of the records of each class, in order; in time by the number of records."""
    order = labels.argsort(stable=True)
    parts: tuple[Tensor, ...] = order.split(labels.bincount(minlength=classes).tolist())
    return parts


def held_out(labels: Tensor, classes: int, share: float, purpose: str) -> Tensor:
    """Whether each record is among the share of its class that is held out, the same in every run, [N].

    Of a class of two records or more both parts get at least one; a class of one record stays whole.
    """
    draws = generator(0, purpose)
    chosen = torch.zeros(len(labels), dtype=torch.bool)
    for members in class_places(labels, classes):
        count = min(max(math.floor(share * len(members) + 0.5), 1), len(members) - 1)
        chosen[members[torch.randperm(len(members), generator=draws)[:count]]] = True
    return chosen
