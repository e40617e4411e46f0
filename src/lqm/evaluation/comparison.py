"""Runs side by side: those that differ by their seed alone are repeats, with a spread."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from lqm.condensed import CondensedSet
from lqm.evaluation.contrasts import Side, pair_of
from lqm.evaluation.labels import budget_of, distance_of, key_of, made_of
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.spread import Spread
from lqm.evaluation.table import CONDENSED, ScoreRow, read_scores

When = Literal["before", "after"]
# A set, and its rows by training set and evaluation seed.
_Run = tuple[CondensedSet, dict[tuple[str, int], ScoreRow]]


@dataclass(frozen=True)
class Repeats:
    """Runs that differ by their seed alone, and their scores by one protocol.

    Attributes:
        scores: of each run, by all evaluation seeds; empty if it was not evaluated.
        real: the scores of real records beside them.
    """

    sets: list[CondensedSet]
    scores: list[list[ScoreRow]]
    real: list[ScoreRow]

    @property
    def manifest(self) -> dict[str, Any]:
        """That of the first run; the others have another seed."""
        return self.sets[0].manifest

    @property
    def budget(self) -> int:
        """Images of each class, or nodes in all."""
        return int(budget_of(self.manifest))

    @property
    def distance(self) -> str | None:
        """Its name; None where nothing is matched."""
        return distance_of(self.manifest)

    @property
    def accuracy(self) -> Spread:
        """Over runs (each the mean of its networks) where there are several, else over networks."""
        return self._spread(lambda row: row.accuracy, lambda row: row.accuracies)

    @property
    def side(self) -> Side:
        """What another may be compared with, seed by seed."""
        scores = {
            pair_of(condensed.manifest): {row.evaluation_seed: row.accuracy for row in rows}
            for condensed, rows in zip(self.sets, self.scores, strict=True)
        }
        return Side(self.manifest, self.sets[0].path or Path(), scores)

    def cramer_von_mises(self, when: When) -> Spread:
        """The statistic of the latent features, as `accuracy`; of a single old run only the mean is known."""
        return self._spread(
            lambda row: _match(row, when).cramer_von_mises, lambda row: _match(row, when).by_network
        )

    def extremes(self, when: When) -> Spread:
        """The share of extreme values; it is not stored by network."""
        return self._spread(lambda row: _match(row, when).extremes, lambda row: ())

    def _spread(
        self, mean: Callable[[ScoreRow], float], by_network: Callable[[ScoreRow], Sequence[float]]
    ) -> Spread:
        means = [fmean(map(mean, rows)) for rows in self.scores]
        networks = [value for row in self.scores[0] for value in by_network(row)]
        return Spread(tuple(networks if networks and len(means) == 1 else means))


@dataclass(frozen=True)
class Comparison:
    """All that was condensed from the same data and evaluated in the same way, if at all."""

    source: str
    protocol: Mapping[str, Any]
    repeats: list[Repeats]

    @property
    def title(self) -> str:
        """Source and protocol."""
        if not self.protocol:
            return f"{self.source}: not evaluated yet, run lqm evaluate"
        protocol = self.protocol
        return f"{self.source}: {protocol['name']}, {protocol['epochs']} epochs, {protocol['network']}"


def comparisons(sets: Sequence[CondensedSet]) -> list[Comparison]:
    """Everything that may share a table or a figure; copies of a set count once."""
    by_set: defaultdict[int, list[ScoreRow]] = defaultdict(list)
    for row in read_scores(sets):
        by_set[row.number].append(row)
    groups: defaultdict[tuple[str, str], defaultdict[str, list[_Run]]]
    groups = defaultdict(lambda: defaultdict(list))
    for numbers in copies(sets):
        first = sets[numbers[0]]
        made = key_of([made_of(first.manifest), budget_of(first.manifest)])
        ways: defaultdict[str, dict[tuple[str, int], ScoreRow]] = defaultdict(dict)
        for row in (row for number in numbers for row in by_set[number]):
            ways[row.way][row.training_set, row.evaluation_seed] = row
        for way, rows in (ways or {"": {}}).items():
            groups[key_of(first.manifest["source"]), way][made].append((first, rows))
    return [_comparison([*group.values()]) for group in groups.values()]


def copies(sets: Sequence[CondensedSet]) -> list[list[int]]:
    """The numbers of sets that are equal byte for byte and were made in the same way, together."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for number, condensed in enumerate(sets):
        groups[key_of([condensed.manifest["data"]["sha256"], made_of(condensed.manifest)])].append(number)
    return [*groups.values()]


def _comparison(groups: Sequence[Sequence[_Run]]) -> Comparison:
    repeats = [
        Repeats(
            [condensed for condensed, _ in runs],
            [[row for row in rows.values() if row.training_set == CONDENSED] for _, rows in runs],
            [row for _, rows in runs for row in rows.values() if row.training_set != CONDENSED],
        )
        for runs in groups
    ]
    first = next((row for rows in repeats[0].scores for row in rows), None)
    return Comparison(repeats[0].manifest["source"]["name"], first.protocol if first else {}, repeats)


def _match(row: ScoreRow, when: When) -> LatentMatch:
    return row.before if when == "before" else row.after
