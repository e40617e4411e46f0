"""The table of scores: all that networks found of condensed sets and of real records beside them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lqm.condensed import CondensedSet
from lqm.evaluation.labels import budget_of, distance_of, key_of
from lqm.evaluation.latents import LatentMatch
from lqm.evaluation.scores import Score

Manifest = Mapping[str, Any]

CONDENSED = "condensed"


@dataclass(frozen=True, kw_only=True)
class ScoreRow(Score):
    """What the networks of one protocol and evaluation seed, trained on one set of records, found.

    Attributes:
        number: which of the condensed sets that are read together was evaluated.
        manifest: of this set: where it comes from, and how it was made.
        protocol: how the networks were trained, as it is noted.
        training_set: what they were trained on: `condensed`, or real records (`random`, `full`, ...).
        evaluation_seed: of the networks and of their training.
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
        """How the set was condensed."""
        return str(self.manifest["method"])

    @property
    def distance(self) -> str | None:
        """What was matched; None where nothing is."""
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
    """The scores that manifests note, in their order: first a condensed set's, then those of real records."""
    return [row for number, condensed in enumerate(sets) for row in scores_in(condensed.manifest, number)]


def scores_in(manifest: Manifest, number: int = 0) -> list[ScoreRow]:
    """The scores that one manifest notes."""
    return [
        _row(found, number, manifest, entry, name)
        for entry in manifest.get("scores", [])
        for name, found in {CONDENSED: entry, **entry.get("baselines", {})}.items()
    ]


def _row(found: Manifest, number: int, manifest: Manifest, entry: Manifest, name: str) -> ScoreRow:
    return ScoreRow(
        # Manifests of format 2 know no records but images.
        found["records"] if "records" in found else found["images"],
        tuple(found["accuracies"]),
        _match(found["before"]),
        _match(found["after"]),
        tuple(found.get("by_class", ())),
        number=number,
        manifest=manifest,
        protocol=entry["protocol"],
        training_set=name,
        evaluation_seed=entry["seed"],
    )


def _match(noted: Manifest) -> LatentMatch:
    return LatentMatch(noted["cramer_von_mises"], noted["extremes"], tuple(noted.get("by_network", ())))
