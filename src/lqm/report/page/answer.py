"""What a reader asks, answered in a line a case."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb


@dataclass(frozen=True)
class Line:
    """What is so of one case.

    Attributes:
        case: its number.
        value: what is to be seen first.
        more: what follows it.
    """

    case: int
    value: str
    more: str = ""


@dataclass(frozen=True)
class Answer:
    """A question, what is so of each case, and what it is to be held against, a line a paragraph."""

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


def told_apart(names: tuple[str, str], said: str, better: str, found: Sequence[bool]) -> str:
    """What is said of the first of two sets, if networks agree that it is better than the second.

    Args:
        names: of the two.
        said: that the first is better, and by how much.
        better: in which way, in one word.
        found: of each network, whether it is so.
    """
    under, clear = agreement(found)
    if clear:
        return f"{said} ({better} {under})"
    return f"{names[0]} and {names[1]} can't be told apart ({names[0]} is {better} {under})"


def in_points(difference: float) -> str:
    """A difference of two shares in points of a percent, with its sign.

    Example:
        >>> in_points(-0.0342), in_points(-0.0001)
        ('−3.4', '+0.0')
    """
    return f"{round(100 * difference, 1) + 0.0:+.1f}".replace("-", "\N{MINUS SIGN}")
