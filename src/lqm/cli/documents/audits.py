"""The document of an audit."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, Document


@dataclass(frozen=True, kw_only=True, config=STRICT)
class EstimateEntry:
    """A number with its 95 % interval.

    Attributes:
        value: the number.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CopiesEntry:
    """Copies of training records.

    Attributes:
        records: in the set.
        exact: that are the same as a training record.
        near: that are within the bound, exact ones included.
        traceable: whose nearest training record is less than half as far as the second nearest.
        near_held_out: share of held-out records that are within the bound of a training record too.
        traceable_held_out: share of held-out records that are traceable in the same way.
    """

    records: int
    exact: int
    near: int
    traceable: int
    near_held_out: float
    traceable_held_out: float


@dataclass(frozen=True, kw_only=True, config=STRICT)
class GapEntry:
    """Whether a set is nearer to its training records than to held-out ones.

    Attributes:
        gap: by how much the nearest held-out record is farther, as a share.
        nearer: share of records whose nearest real record is a training one.
        chance: the middle 95 % of that share by chance.
    """

    gap: EstimateEntry
    nearer: EstimateEntry
    chance: list[float]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AttackEntry:
    """How well an attack tells training records from others.

    Attributes:
        members: training records that were scored.
        others: held-out records that were.
        area: under the ROC curve; 0.5 is a guess.
        rates: share of members found at a false positive rate of 1 % and of 0.1 %; null where there are too
            few others to know.
    """

    members: int
    others: int
    area: EstimateEntry
    rates: list[EstimateEntry | None]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AuditedEntry:
    """What one set gives away.

    Attributes:
        copies: null where there is nothing to compare, as for a network.
        gaps: by view of the records.
        attacks: by name.
    """

    copies: CopiesEntry | None
    gaps: dict[str, GapEntry]
    attacks: dict[str, AttackEntry]


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CanariesEntry:
    """Mislabelled held-out records that were planted.

    Attributes:
        records: how many.
        fitted: share that networks fit better if they learned from the set that had them.
        closer: share to which that set is nearer.
        area: under the ROC curve that tells planted ones from others by their fit.
    """

    records: int
    fitted: EstimateEntry
    closer: EstimateEntry
    area: EstimateEntry


@dataclass(frozen=True, kw_only=True, config=STRICT)
class AuditDocument(Document):
    """What a condensed set gives away of its training records.

    Attributes:
        run: where the set is.
        records: what it holds, in one word.
        verdict: what a reader should know first.
        findings: the measures by which the set tells its training records from others, in words.
        bound: when a record counts as a near copy, in words.
        protocol: how networks were trained, by name.
        shadows: sets that were condensed from halves.
        steps: of the sets that were condensed again.
        seed: of everything that was drawn.
        sets: by name, the condensed set first, then the references.
        canaries: null if none were planted.
        meaning: how to read the numbers, a sentence each.
        not_kept: why it is not in the manifest on the disk; empty if it is.
    """

    command: str = "audit"
    run: str
    records: str
    verdict: str
    findings: list[str]
    bound: str
    protocol: str
    shadows: int
    steps: int
    seed: int
    sets: dict[str, AuditedEntry]
    canaries: CanariesEntry | None
    meaning: list[str]
    not_kept: str
