"""The table of scores: a row for every protocol, evaluation seed and training set that manifests hold."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lqm.condensed import CondensedSet
from lqm.evaluation.confusion import from_stored
from lqm.evaluation.labels import budget_of, distance_of, key_of
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import Score

Manifest = Mapping[str, Any]

CONDENSED = "condensed"
# Manifests of format 2 know no records but images, which were pictures once.
_RECORDS = ("records", "images", "pictures")


@dataclass(frozen=True, kw_only=True)
class ScoreRow(Score):
    """The score of networks of one protocol and evaluation seed that were trained on one set.

    Attributes:
        number: of the condensed set, among those that are read together.
        training_set: `condensed`, or how real records were chosen (`random`, `full`, ...).
    """

    number: int
    manifest: Manifest = field(repr=False)
    protocol: Manifest
    training_set: str
    evaluation_seed: int

    @property
    def source(self) -> str:
        """The name of the data that were condensed."""
        return str(self.manifest["source"]["name"])

    @property
    def method(self) -> str:
        """Of the condensation."""
        return str(self.manifest["method"])

    @property
    def distance(self) -> str | None:
        """Its name; None where nothing is matched."""
        return distance_of(self.manifest)

    @property
    def budget(self) -> int:
        """Images of each class, or nodes in all."""
        return int(budget_of(self.manifest))

    @property
    def seed(self) -> int:
        """Of the condensation."""
        return int(self.manifest["seed"])

    @property
    def network(self) -> str:
        """The spec of the networks."""
        return str(self.protocol["network"])

    @property
    def way(self) -> str:
        """The protocol as text: only scores of one way are to be compared."""
        return key_of(self.protocol)


def read_scores(sets: Iterable[CondensedSet]) -> list[ScoreRow]:
    """The scores in manifests, in their order: first a condensed set's, then those of real records."""
    return [row for number, condensed in enumerate(sets) for row in scores_in(condensed.manifest, number)]


def scores_in(manifest: Manifest, number: int = 0) -> list[ScoreRow]:
    """The scores in one manifest."""
    return [
        ScoreRow(
            next(score[name] for name in _RECORDS if name in score),
            tuple(score["accuracies"]),
            _match(score["before"]),
            _match(score["after"]),
            tuple(score.get("by_class", ())),
            tuple(score.get("predicted", ())),
            tuple(score.get("best", ())),
            from_stored(score.get("confused", {})),
            score.get("training_seconds"),
            number=number,
            manifest=manifest,
            protocol=entry["protocol"],
            training_set=name,
            evaluation_seed=entry["seed"],
        )
        for entry in manifest.get("scores", [])
        for name, score in {CONDENSED: entry, **entry.get("baselines", {})}.items()
    ]


def _match(stored: Manifest) -> LatentMatch:
    return LatentMatch(stored["cramer_von_mises"], stored["extremes"], tuple(stored.get("by_network", ())))
