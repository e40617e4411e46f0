"""How near the records of a set are to training records, and how near to held-out ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.evaluation.audit.statistics import Estimate, is_more_often, mean, share

# Values of real records that are held at a time, and differences of pairs.
_CHUNK = 1 << 22
_SHUFFLES = 1000
# Held-out records that are looked at beside those of a small set.
_HELD_OUT = 1000
_NO_DISTANCE = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """Real records as rows of numbers: how many, and the rows of given places, [n, D]."""

    count: int
    take: Callable[[Tensor], Tensor]

    def only(self, places: Tensor) -> "Rows":
        """Those of some places."""
        return Rows(len(places), lambda some: self.take(places[some]))


@dataclass(frozen=True, eq=False)
class View:
    """One way to compare the records of a set with real ones: by pixels, features or an embedding.

    Attributes:
        name: of what is compared.
        own: the records of the set, [M, D].
        train: the training records.
        held_out: the held-out records.
        scale: what a distance is divided by: the root of D for the root mean square of differences.
        of: the numbers of the records that each row of `own` is or belongs to, [M, k].
    """

    name: str
    own: Tensor
    train: Rows
    held_out: Rows
    scale: float
    of: Tensor


@dataclass(frozen=True)
class Bounds:
    """What counts as a copy: differences of at most `exact`, and of at most `near`.

    Attributes:
        by_largest: whether the largest difference of a value counts, or the length of the difference.
        words: what the bound of a near copy is, for a table.
    """

    exact: float
    near: float
    by_largest: bool
    words: str


class Nearest(NamedTuple):
    """Of each row: distance and place of the nearest, the distance of the second, the least difference.

    The least difference is that of `Bounds`; infinite if it is more than a near copy has. Each is [M].
    """

    first: Tensor
    place: Tensor
    second: Tensor
    least: Tensor


@dataclass(frozen=True)
class Copies:
    """How many records of a set are copies of training records.

    Attributes:
        records: in the set.
        exact: that are the same.
        near: that are within the bound, exact ones included.
        traceable: whose nearest training record is less than half as far as the second nearest.
        near_held_out: share of held-out records that are within the bound of a training record too.
        traceable_held_out: share of held-out records that are traceable in the same way.
        held_out: how many held-out records these shares are of.
    """

    records: int
    exact: int
    near: int
    traceable: int
    near_held_out: float
    traceable_held_out: float
    held_out: int = 100

    @property
    def tells(self) -> bool:
        """Whether more records are traceable than of those that the set has never met, beyond chance."""
        others = round(self.traceable_held_out * self.held_out)
        return is_more_often(self.traceable, self.records, others, self.held_out)


@dataclass(frozen=True)
class Gap:
    """Whether a set is nearer to its training records than to records that it has never met.

    Attributes:
        train: median distance to the nearest training record.
        held_out: median distance to the nearest held-out record.
        gap: by how much the nearest held-out record is farther, among as many of either, as a share of the
            larger of the two distances.
        nearer: share of records whose nearest real record is a training record.
        chance: the middle 95 % of that share, if training and held-out records change places at random.
    """

    train: float
    held_out: float
    gap: Estimate
    nearer: Estimate
    chance: tuple[float, float]

    @property
    def tells(self) -> bool:
        """Whether more records are nearer to training records than chance has it."""
        return self.nearer.value > self.chance[1]


def find_nearest(own: Tensor, rows: Rows, bounds: Bounds | None = None) -> Nearest:
    """Nearest neighbours by Euclidean distance, and the least difference by the bounds if they are given.

    A largest difference of b is a distance of at most b times the root of D: only such pairs are looked at.
    """
    exactly, width = own.double(), own.shape[1]
    norms = exactly.square().sum(dim=1, keepdim=True)
    first, second, least = (torch.full((len(own),), torch.inf, dtype=torch.float64) for _ in range(3))
    place = torch.zeros(len(own), dtype=torch.int64)
    reach = 0.0 if bounds is None else bounds.near * (width**0.5 if bounds.by_largest else 1.0)
    for places in torch.arange(rows.count).split(max(1, _CHUNK // max(width, len(own)))):
        part = rows.take(places).double()
        found = (norms + part.square().sum(dim=1) - 2 * exactly @ part.T).clamp_min(0).sqrt()
        two, where = found.topk(min(2, len(places)), largest=False)
        better = two[:, 0] < first
        place = torch.where(better, places[where[:, 0]], place)
        both = torch.cat([first[:, None], second[:, None], two], dim=1).sort(dim=1).values
        first, second = both[:, 0], both[:, 1]
        if bounds is not None:
            pairs = (found <= reach * (1 + 1e-6) + 1e-6).nonzero()
            for some in pairs.split(max(1, _CHUNK // width)):
                difference = exactly[some[:, 0]] - part[some[:, 1]]
                size = difference.abs().amax(1) if bounds.by_largest else difference.norm(dim=1)
                least = least.scatter_reduce(0, some[:, 0], size, "amin")
    return Nearest(first, place, second, least)


def count_copies(views: Sequence[View], records: int, bounds: Bounds, seed: int = 0) -> Copies:
    """The copies among a set's records, by any of several views."""
    least = torch.full((records,), torch.inf, dtype=torch.float64)
    traceable = torch.zeros(records, dtype=torch.bool)
    # Of each held-out record as well: by any of the views, as it counts for the set's own.
    order = torch.randperm(views[0].held_out.count, generator=generator(seed, "expected copies"))
    sample = order[: max(records, _HELD_OUT)]
    expected = torch.zeros(2, len(sample), dtype=torch.bool)
    for view in views:
        found = find_nearest(view.own, view.train, bounds)
        each = found.least[:, None].expand_as(view.of)
        least = least.scatter_reduce(0, view.of.flatten(), each.flatten(), "amin")
        traceable[view.of[_traceable(found)].flatten()] = True
        beside = find_nearest(view.held_out.take(sample), view.train, bounds)
        expected |= torch.stack([beside.least <= bounds.near, _traceable(beside)])
    exact, near = (int((least <= bound).sum()) for bound in (bounds.exact, bounds.near))
    near_beside, traceable_beside = expected.double().mean(dim=1).tolist()
    return Copies(
        records, exact, near, int(traceable.sum()), near_beside, traceable_beside, held_out=len(sample)
    )


def _traceable(found: Nearest) -> Tensor:
    """Whether the nearest is less than half as far as the second nearest, [M]."""
    return found.first < found.second / 2


def measure_gap(view: View, train: Tensor, held_out: Tensor, seed: int) -> Gap:
    """How much nearer a view's records are to training records than to held-out ones.

    Under the null hypothesis that the set owes nothing to which records were training records, these and the
    held-out ones of a class can change places: shuffling them gives the share that chance has.

    Shapes: train and held_out: the labels of the real records, [n] and [m].
    """
    draws = generator(seed, "audit gap")
    inner, outer = find_nearest(view.own, view.train), find_nearest(view.own, view.held_out)
    equal = _as_many(train, held_out, draws)
    near, far = (
        find_nearest(view.own, rows.only(chosen)).first if len(chosen) < rows.count else whole.first
        for chosen, rows, whole in zip(equal, (view.train, view.held_out), (inner, outer), strict=True)
    )
    nearer = (inner.first < outer.first) | (
        (inner.first == outer.first) & (torch.rand(len(view.own), generator=draws) < 0.5)
    )
    place = torch.where(inner.first <= outer.first, inner.place, len(train) + outer.place)
    shuffled = _shuffled_shares(place, train, held_out, draws)
    low, high = torch.quantile(shuffled, torch.tensor([0.025, 0.975], dtype=torch.float64)).tolist()
    return Gap(
        train=float(inner.first.median()) / view.scale,
        held_out=float(outer.first.median()) / view.scale,
        gap=mean((far - near) / torch.maximum(far, near).clamp_min(_NO_DISTANCE), draws),
        nearer=share(int(nearer.sum()), len(nearer)),
        chance=(low, high),
    )


def _as_many(train: Tensor, held_out: Tensor, draws: torch.Generator) -> list[Tensor]:
    """Places of as many records of each class on either side."""
    sides: list[list[Tensor]] = [[], []]
    for label in torch.cat([train, held_out]).unique():
        own = [(labels == label).nonzero()[:, 0] for labels in (train, held_out)]
        count = min(len(places) for places in own)
        for side, places in zip(sides, own, strict=True):
            side.append(places[torch.randperm(len(places), generator=draws)[:count]])
    return [torch.cat(side) for side in sides]


def _shuffled_shares(place: Tensor, train: Tensor, held_out: Tensor, draws: torch.Generator) -> Tensor:
    """The share of places that are training records' after shuffles within each class, [shuffles]."""
    labels = torch.cat([train, held_out])
    shares = torch.zeros(_SHUFFLES, dtype=torch.float64)
    # Of a class only the places matter that some record is nearest to; they are drawn one after the other.
    for label in labels[place].unique():
        counts = place[labels[place] == label].unique(return_counts=True)[1]
        inside, total = int((train == label).sum()), int((labels == label).sum())
        left = torch.full((_SHUFFLES,), float(inside), dtype=torch.float64)
        for drawn, count in enumerate(counts.tolist()):
            chosen = torch.rand(_SHUFFLES, generator=draws, dtype=torch.float64) * (total - drawn) < left
            left -= chosen.double()
            shares += count * chosen
    return shares / len(place)
