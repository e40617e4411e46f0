"""Membership inference: does a record's score tell whether it was among those that a set was made of?"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.evaluation.audit.statistics import Estimate, area, log_ratio, rate_at

FALSE_RATES = (0.01, 0.001)
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Attack:
    """How well an attack tells members from other records.

    Attributes:
        members: how many training records were scored.
        others: how many held-out records were.
        area: under the ROC curve; 0.5 is a guess.
        rates: the share of members that is found at a false positive rate of 1 % and of 0.1 %; None where
            there are too few others to know.
    """

    members: int
    others: int
    area: Estimate
    rates: tuple[Estimate | None, ...]

    @property
    def tells(self) -> bool:
        """Whether the interval of the area, or of the share that is found, is above a guess."""
        return self._above(0.5, FALSE_RATES)

    def tells_more_than(self, control: "Attack") -> bool:
        """Whether it is above what a control reaches, too."""
        rates = (
            max(rate, found.value) if found else rate
            for found, rate in zip(control.rates, FALSE_RATES, strict=True)
        )
        return self._above(max(0.5, control.area.value), rates)

    def _above(self, area: float, rates: Iterable[float]) -> bool:
        shares = zip(self.rates, rates, strict=True)
        return self.area.low > area or any(found is not None and found.low > rate for found, rate in shares)


class Places(NamedTuple):
    """Numbers of training records and of held-out records, in the order of their source."""

    train: Tensor
    held_out: Tensor

    def of(self, values: "Places") -> Tensor:
        """Values of the records at these places, such as their labels; those of training first."""
        return torch.cat([own[chosen] for own, chosen in zip(values, self, strict=True)])

    def only(self, chosen: Tensor) -> "Places":
        """Those that are chosen, bool [N], of both sides one after the other."""
        members = len(self.train)
        return Places(self.train[chosen[:members]], self.held_out[chosen[members:]])


def attack(members: Tensor, others: Tensor) -> Attack:
    """An attack by scores that are larger for a supposed member."""
    rates = tuple(rate_at(members, others, rate) for rate in FALSE_RATES)
    return Attack(len(members), len(others), area(members, others), rates)


def confidence(logits: Tensor, labels: Tensor) -> Tensor:
    """log(p / (1 - p)) of the probability p of each record's label, [N].

    Example:
        >>> confidence(torch.tensor([[0.0, 0.0], [2.0, -1.0]]), torch.tensor([0, 1])).tolist()
        [0.0, -3.0]
    """
    logits, chosen = logits.double(), F.one_hot(labels, logits.shape[1]).bool()
    return logits[chosen] - logits.masked_fill(chosen, -torch.inf).logsumexp(dim=1)


def loss_scores(confidences: Tensor) -> Tensor:
    """Minus the cross entropy, as the mean over networks: [networks, N] to [N]."""
    return -F.softplus(-confidences).mean(dim=0)


def ratio_scores(confidences: Tensor, shadows: Tensor, inside: Tensor) -> Tensor:
    """The log likelihood ratio, as the mean over networks: [networks, N] to [N]."""
    return torch.stack([log_ratio(own, shadows, inside) for own in confidences]).mean(dim=0)


def alike(train: Tensor, held_out: Tensor, most: int, seed: int) -> Places:
    """Places of many records, at most `most` a side, with the classes in the same shares on both sides.

    The shares are those of the training records, else an attack would tell members by their class. Classes
    of which so little is held out that the others would shrink with them are left out.

    Shapes: train [n] and held_out [m]: labels.
    """
    classes = int(torch.cat([train, held_out]).max()) + 1
    members, others = (labels.bincount(minlength=classes).double() for labels in (train, held_out))
    ratios = torch.where(members > 0, others / members.clamp_min(1), 0.0)
    ratio = max(ratios.unique().tolist(), key=lambda least: _worth(members[ratios >= least], least))
    members = torch.where(ratios >= ratio, members, 0.0)
    members[ratio * members < 1 - _ROUNDING] = 0
    chosen = []
    for side, labels, wanted in (("members", train, members), ("others", held_out, ratio * members)):
        each = (wanted * min(1.0, most / max(float(wanted.sum()), 1.0)) + _ROUNDING).long()
        order = torch.randperm(len(labels), generator=generator(seed, f"audited {side}"))
        parts = [order[labels[order] == label][: each[label]] for label in range(classes)]
        chosen.append(torch.cat(parts).sort().values)
    return Places(*chosen)


def some_places(count: int, most: int, seed: int) -> Tensor:
    """Places of all of so many records, or of `most` of them at random."""
    order = torch.randperm(count, generator=generator(seed, "embedded records"))
    return order[:most].sort().values


def _worth(members: Tensor, ratio: float) -> float:
    """How much a comparison of n members with so many times as many others is worth: nm / (n + m)."""
    return float(members.sum()) * ratio / (1 + ratio)


def halves(labels: Tensor, count: int, seed: int) -> Tensor:
    """Which records of a pool each of `count` (an even number) shadows is made of, bool [count, N].

    A random half of each class, and for the next shadow the other half, so that each record is in half of the
    shadows.
    """
    inside = torch.zeros(count, len(labels), dtype=torch.bool)
    for pair in range(0, count, 2):
        draws = generator(seed, "shadow halves", pair)
        order = torch.randperm(len(labels), generator=draws)
        for label in labels.unique():
            own = order[labels[order] == label]
            inside[pair, own[: (len(own) + (pair // 2) % 2) // 2]] = True
        inside[pair + 1] = ~inside[pair]
    return inside
