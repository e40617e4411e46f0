"""Real and condensed records as one network sees them: where the distributions agree, and where not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lqm.diagnostics import cramer_von_mises, extreme_share
from lqm.latents import ClassLatents
from lqm.report.cases import Case


@dataclass(frozen=True, eq=False)
class ClassMatch:
    """How well one set keeps one class.

    Attributes:
        own: the set's latent features, [k, F].
        statistic: Cramer-von Mises statistic of each feature against the real class, [F].
        extremes: share of the values outside the range of the real class.
    """

    own: Tensor
    statistic: Tensor
    extremes: float


@dataclass(frozen=True, eq=False)
class Latents:
    """The latent features of real and condensed records.

    Attributes:
        network: through which they are seen, in words.
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

    def worst(self, case: int, label: int) -> int:
        """The feature of a class that a set keeps worst."""
        return int(self.matches[case][label].statistic.argmax())

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


def latents_of(cases: Sequence[Case], source: Any, *, seed: int = 0) -> Latents:
    """Look at sets of one source through one fresh network, that of the first set's evaluation protocol.

    It is the first network of an evaluation by `seed`, before its training.
    """
    kind = cases[0].kind
    protocol = kind.read_protocol(**cases[0].manifest["evaluation"])
    network = kind.fresh_network(source, protocol.network, seed, 0)
    return measure(protocol.kind, kind.latents(network, [case.condensed for case in cases], source))


def measure(network: str, sets: Iterable[Iterable[ClassLatents]]) -> Latents:
    """What was seen through one network: of each set the latent features of its classes."""
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
