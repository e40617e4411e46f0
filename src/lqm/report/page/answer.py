"""What a reader asks, answered in a line a case."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb


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


def agreement(found: Sequence[bool]) -> tuple[str, bool]:
    """Under how many networks something is so; and whether that is clear, by a sign test.

    It is clear if chance would bring as many in one case of sixteen at most: four of four, eight of ten.

    Example:
        >>> agreement([True] * 4), agreement([True, False, True, True])
        (('under 4 of 4 networks', True), ('under 3 of 4 networks', False))
    """
    networks, so = len(found), sum(found)
    chance = sum(comb(networks, count) for count in range(so, networks + 1)) / 2**networks
    return f"under {so} of {networks} networks", chance <= 1 / 16


def told_apart(names: tuple[str, str], claim: str, better: str, found: Sequence[bool]) -> str:
    """The claim that the first of two sets is better, if networks agree on it; else that it is not clear.

    `better` is in which way, in one word; `found` is whether it is so by each network.
    """
    under, clear = agreement(found)
    if clear:
        return f"{claim} ({better} {under})"
    return f"{names[0]} and {names[1]} can't be told apart ({names[0]} is {better} {under})"


def in_points(difference: float) -> str:
    """A difference of two shares in points of a percent, with its sign.

    Example:
        >>> in_points(-0.0342), in_points(-0.0001)
        ('−3.4', '+0.0')
    """
    return f"{round(100 * difference, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
