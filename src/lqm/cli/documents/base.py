"""What all documents share: the number of the schema, and how they become text."""

import json
import math
from dataclasses import asdict, is_dataclass
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.evaluation.paired import Paired
from lqm.evaluation.spread import Spread

# A document has no field but these, each of its type.
STRICT = ConfigDict(extra="forbid", strict=True)
Value = str | int | float | bool
_Kind = TypeVar("_Kind")


@dataclass(frozen=True, kw_only=True, config=STRICT)
class Document:
    """What every document has.

    Attributes:
        schema: the number of this form; a later form with other fields, or other meanings, has another.
        command: what printed it.
    """

    schema: Literal[1] = 1
    command: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class SpreadEntry:
    """A number that several networks, runs or repeats found.

    Attributes:
        mean: over all of them.
        deviation: the sample standard deviation; null for a single one.
        each: what each of them found.
    """

    mean: float
    deviation: float | None
    each: list[float]

    @classmethod
    def of(cls, spread: Spread) -> "SpreadEntry":
        """As a document has it."""
        return cls(mean=spread.mean, deviation=spread.deviation, each=[*spread.each])


@dataclass(frozen=True, kw_only=True, config=STRICT)
class DifferenceEntry:
    """One side less another, in pairs that have their seeds in common; accuracies are shares.

    Attributes:
        side: what is compared.
        against: what it is compared with.
        group: what both share, by axis; empty where a table says it.
        mean: of the differences.
        low: end of the 95 % interval of the mean by Student's t; null for a single pair.
        high: the other end.
        pairs: how many there are.
        p: of the sign-flip permutation test; null where there are no pairs to flip.
        holm: the same by Holm's rule over the table.
        verdict: better, worse, or that it may be chance.
    """

    side: str
    against: str
    group: dict[str, Value]
    mean: float
    low: float | None
    high: float | None
    pairs: int
    p: float | None
    holm: float | None
    verdict: str

    @classmethod
    def of(
        cls, side: str, against: str, paired: Paired, holm: float, group: dict[str, Value] | None = None
    ) -> "DifferenceEntry":
        """As a document has it."""
        low, high = paired.interval or (None, None)
        return cls(
            side=side,
            against=against,
            group=group or {},
            mean=paired.mean,
            low=finite(low),
            high=finite(high),
            pairs=paired.pairs,
            p=finite(paired.p),
            holm=finite(holm),
            verdict=paired.verdict,
        )


def finite(number: float | None) -> float | None:
    """A number that JSON has; null for others."""
    return number if number is not None and math.isfinite(number) else None


def entry(kind: type[_Kind], found: Any) -> _Kind:
    """An entry out of a dataclass, or of a dictionary, that has at least its fields."""
    values = asdict(found) if is_dataclass(found) and not isinstance(found, type) else found
    return TypeAdapter(kind).validate_json(json.dumps(values), extra="ignore")


def as_json(document: Document) -> str:
    """A document as text, in letters that every terminal has."""
    return json.dumps(asdict(document), indent=2, allow_nan=False)
