"""Turning what the user typed into the thing that it names, and names from outside into what can be shown."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from lqm.utils.errors import ConfigError
from lqm.utils.terminal import visible

T = TypeVar("T")

# A longer name is no slip of the hand, and comparing it with all that are known takes long.
_LONGEST = 200


def choose(name: str, table: Mapping[str, T], kind: str) -> T:
    """Look a name up in a table.

    Example:
        >>> choose("lqn", {"mean": 1, "lqm": 2}, "distance")
        Traceback (most recent call last):
        lqm.utils.errors.ConfigError: there is no distance 'lqn'; did you mean 'lqm'? Known: lqm, mean
    """
    known = f"Known: {', '.join(sorted(table))}"
    if not isinstance(name, str):
        raise ConfigError(f"{shown_value(name)} is no {kind}; give a name. {known}")
    if name in table:
        return table[name]
    near = get_close_matches(name[:_LONGEST], table, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise ConfigError(f"there is no {kind} {shown_value(name)}; {hint}{known}")


def shown_value(value: object) -> str:
    """A value as Python writes it, shortened, for a sentence.

    Example:
        >>> shown_value("a"), shown_value([1, 2]), len(shown_value("a" * 1000))
        ("'a'", '[1, 2]', 121)
    """
    try:
        text = repr(value)
    except Exception:  # an object of the user's may fail at this, and is not what the sentence is about
        text = f"a {type(value).__name__}"
    text = " ".join(visible(text).split())
    return text if len(text) <= 120 else f"{text[:60]}…{text[-60:]}"
