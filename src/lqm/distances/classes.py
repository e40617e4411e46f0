"""Distances of many classes at once: those with equally many real and synthetic records share a batch."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lqm.distances.distance import Distance, Target


class Group(NamedTuple):
    """Classes of equal size, and their common target."""

    classes: list[int]
    target: Target


def class_targets(
    distance: Distance, real: Sequence[Tensor], k: Sequence[int], generator: torch.Generator | None = None
) -> list[Group]:
    """Targets of all classes: real[c] is [n_c, F], to be matched by k[c] synthetic records."""
    sizes: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (sample, count) in enumerate(zip(real, k, strict=True)):
        sizes[len(sample), count].append(index)
    return [
        Group(classes, distance.target(_batch([real[c] for c in classes]), count, generator))
        for (_, count), classes in sizes.items()
    ]


def class_losses(distance: Distance, groups: Sequence[Group], synthetic: Sequence[Tensor]) -> Tensor:
    """Losses of all classes, [C]: synthetic[c] is [k_c, F]."""
    losses = [distance.loss(g.target, _batch([synthetic[c] for c in g.classes])) for g in groups]
    order = [c for g in groups for c in g.classes]
    joined = torch.cat(losses)
    return joined if order == sorted(order) else joined[torch.tensor(order, device=joined.device).argsort()]


def _batch(samples: Sequence[Tensor]) -> Tensor:
    """Samples of equal size as one tensor; a single one is not copied."""
    return torch.stack(list(samples)) if len(samples) > 1 else samples[0].unsqueeze(0)
