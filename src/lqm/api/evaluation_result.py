"""What an evaluation has found."""

from dataclasses import dataclass

from lqm.api.domains import domain_of_set
from lqm.condensed import CondensedSet
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.labels import mosaics_of
from lqm.evaluation.markdown import score_layout, score_markdown
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.scores import Score
from lqm.evaluation.verdict import verdict_of
from lqm.utils.html import heading, paragraph, table

Scores = dict[str, Score]


def evaluator_of(condensed: CondensedSet) -> Evaluator:
    """How a set is evaluated."""
    return domain_of_set(condensed).evaluator


@dataclass(frozen=True, repr=False)
class Evaluation:
    """The score of a condensed set under one protocol, beside those of other sets under the same.

    Attributes:
        by_network: for each kind of network, the scores by the name of the training set.
        warnings: what is wrong with the set, a line each: dead nodes, lengths unlike the real ones', a loss
            that did not fall, classes that are never predicted.
        not_kept: why a score is not in the manifest on the disk; empty if all are.
    """

    protocol: Protocol
    by_network: dict[str, Scores]
    condensed: CondensedSet
    warnings: tuple[str, ...] = ()
    not_kept: str = ""

    @property
    def rows(self) -> Scores:
        """All scores of the first kind of network, by the name of their training set."""
        return next(iter(self.by_network.values()))

    @property
    def score(self) -> Score:
        """The condensed set's, by the first kind of network."""
        return self.rows["condensed"]

    @property
    def baselines(self) -> Scores:
        """Those of the real records, by the first kind of network."""
        return {name: found for name, found in self.rows.items() if name != "condensed"}

    @property
    def accuracy(self) -> float:
        """Mean test accuracy of the networks, of the first kind, that were trained on the condensed set."""
        return self.score.accuracy

    @property
    def verdict(self) -> str:
        """What the set is worth beside real records, in one line; by the first kind of network."""
        by = f"by {next(iter(self.by_network))}: " * (len(self.by_network) > 1)
        remedies = evaluator_of(self.condensed).remedies_of(self.condensed)
        return by + verdict_of(self.rows, self.protocol.records, remedies, mosaics_of(self.condensed))

    def __repr__(self) -> str:
        found = ", ".join(f"{name} {score.spread.percent()} %" for name, score in self.rows.items())
        return f"Evaluation({found}; {next(iter(self.by_network))}, {self.protocol.name})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdict, what is wrong with the set, and the table of scores."""
        header, rows, notes = score_layout(self.by_network, self.protocol, mosaics_of(self.condensed))
        warned = "".join(paragraph(f"warning: {line}") for line in self.warnings)
        below = "".join(paragraph(note, small=True) for note in notes)
        return heading(self.verdict) + warned + table(header, rows) + below

    def __str__(self) -> str:
        warned = "".join(f"warning: {line}\n\n" for line in self.warnings)
        table = score_markdown(self.by_network, self.protocol, mosaics_of(self.condensed))
        return f"{self.verdict}\n\n{warned}{table}"
