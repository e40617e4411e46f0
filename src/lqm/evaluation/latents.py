"""How well sets of records keep the latent distributions of the real classes: on average, and by feature."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.evaluation.diagnostics import cramer_von_mises, extreme_share
from lqm.evaluation.spread import Spread
from lqm.utils.stored_arrays import Records

MATCHED = 500


@dataclass(frozen=True)
class LatentMatch:
    """How well a set keeps the latent distributions, averaged over classes, features and networks.

    Attributes:
        cramer_von_mises: two-sample statistic between the set and (500 at most) training records of its
            class; it grows with the number of records, so only sets of as many are to be compared.
        extremes: share of values outside the range of these training records.
        by_network: the statistic under each network; empty where that is not known.
    """

    cramer_von_mises: float
    extremes: float
    by_network: tuple[float, ...] = ()

    @property
    def statistic(self) -> Spread:
        """The statistic, with its deviation over networks where that is known."""
        return Spread(self.by_network or (self.cramer_von_mises,))


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


def matched(records: Records, label: int) -> Tensor:
    """The records of a class, or their numbers; 500 of them if there are more, always the same ones."""
    if len(records) <= MATCHED:
        return records[:]
    return records[torch.randperm(len(records), generator=generator(0, "matched", label))[:MATCHED]]


@dataclass(frozen=True, eq=False)
class ClassMatch:
    """One set's features of one class, [k, F]; their statistic, [F], and share of extremes."""

    own: Tensor
    statistic: Tensor
    extremes: float


@dataclass(frozen=True, eq=False)
class Latents:
    """The latent features of real and condensed records.

    Attributes:
        network: that encodes them, in words.
        real: of each class, those of its real training records (500 at most), [n, F].
        matches: of each set, how it keeps each class; a class that a set has nothing of is left out.
    """

    network: str
    real: dict[int, Tensor]
    matches: list[dict[int, ClassMatch]]

    @property
    def features(self) -> int:
        """How many features there are."""
        return next(iter(self.real.values())).shape[1]

    @property
    def means(self) -> list[float | None]:
        """Of each set the mean of the statistic over all classes and features; None if it is empty."""
        return [
            torch.stack([match.statistic for match in found.values()]).mean().item() if found else None
            for found in self.matches
        ]

    def typical(self, label: int) -> int:
        """The feature of a class whose statistics are nearest to every set's median, as shares of these."""
        statistics = torch.stack([match[label].statistic for match in self.matches if label in match])
        medians = statistics.median(dim=1, keepdim=True).values.clamp_min(1e-12)
        return int((statistics / medians - 1).square().sum(dim=0).argmin())

    def strays(self, case: int) -> tuple[int, int]:
        """Class and feature in which a set strays farthest beyond the real values."""
        beyond = {
            label: torch.maximum(
                match.own.amax(dim=0) - self.real[label].amax(dim=0),
                self.real[label].amin(dim=0) - match.own.amin(dim=0),
            )
            for label, match in self.matches[case].items()
        }
        label = max(beyond, key=lambda label: float(beyond[label].max()))
        return label, int(beyond[label].argmax())


def measure(network: str, sets: Iterable[Iterable[ClassLatents]]) -> Latents:
    """Match the features of sets, under one network, with those of the real classes."""
    real: dict[int, Tensor] = {}
    matches: list[dict[int, ClassMatch]] = []
    for classes in sets:
        found: dict[int, ClassMatch] = {}
        for label, features, own in classes:
            real[label] = features
            statistic = cramer_von_mises(features, own, ties="ecdf")
            found[label] = ClassMatch(own, statistic, extreme_share(features, own).item())
        matches.append(found)
    return Latents(network, dict(sorted(real.items())), matches)
