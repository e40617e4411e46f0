"""How well a set of records keeps the latent distributions of the real classes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import NamedTuple

import torch
from torch import Tensor

from lqm.diagnostics import cramer_von_mises, extreme_share
from lqm.engine.randomness import generator

MATCHED = 500


@dataclass(frozen=True)
class LatentMatch:
    """How well a set keeps the latent distributions, averaged over classes, features and networks.

    The training records of a class are 500 of them at most.

    Attributes:
        cramer_von_mises: two-sample statistic between the set and the training records of its class; it
            weighs a misfit by the number of records, so only sets of as many are to be compared.
        extremes: share of values outside the range of the training records of the class.
        by_network: the statistic under each network; empty where that is not known.
    """

    cramer_von_mises: float
    extremes: float
    by_network: tuple[float, ...] = ()

    @property
    def deviation(self) -> float:
        """Standard deviation of the statistic over networks."""
        return pstdev(self.by_network)


class ClassLatents(NamedTuple):
    """The latent features of a class: of its real training records, [n, F], and of a set's own, [k, F]."""

    label: int
    real: Tensor
    own: Tensor


def match_of_classes(classes: Iterable[ClassLatents]) -> LatentMatch:
    """How well latent features are kept, by one network."""
    found = [
        (cramer_von_mises(real, own, ties="ecdf").mean().item(), extreme_share(real, own).item())
        for _, real, own in classes
    ]
    statistics, extremes = zip(*found, strict=True)
    return LatentMatch(fmean(statistics), fmean(extremes))


def matched(records: Tensor, label: int) -> Tensor:
    """The records of a class, or their numbers; 500 of them if there are more, always the same ones."""
    if len(records) <= MATCHED:
        return records
    return records[torch.randperm(len(records), generator=generator(0, "matched", label))[:MATCHED]]


def over_networks(found: Sequence[Sequence[float]]) -> LatentMatch:
    """What several networks found, each a statistic and a share of extremes, as one."""
    statistics, extremes = zip(*found, strict=True)
    return LatentMatch(fmean(statistics), fmean(extremes), statistics)
