"""What a reader asks, answered in a line a case."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """The answer for one case, by its number: a value, and what follows it in smaller letters."""

    case: int
    value: str
    more: str = ""


@dataclass(frozen=True)
class Answer:
    """A question, a line for each case, and a note with what to compare it with."""

    question: str
    lines: list[Line]
    note: str


def class_in_words(name: str) -> str:
    """The name of a class, which is not to be taken for a number."""
    return f"class {name}" if name[:1].isdigit() else name


def and_more(worst: Sequence[int]) -> str:
    """How many there are beside the first."""
    return f" and {len(worst) - 1} more" if len(worst) > 1 else ""
