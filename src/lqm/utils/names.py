"""Turning what the user typed into the thing that it names."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

from lqm.utils.errors import ConfigError

T = TypeVar("T")


def choose(name: str, table: Mapping[str, T], kind: str) -> T:
    """Look a name up in a table.

    Example:
        >>> choose("lqn", {"mean": 1, "lqm": 2}, "distance")
        Traceback (most recent call last):
        lqm.utils.errors.ConfigError: there is no distance 'lqn'; did you mean 'lqm'? Known: lqm, mean
    """
    if name in table:
        return table[name]
    near = get_close_matches(name, table, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'? " if near else ""
    raise ConfigError(f"there is no {kind} '{name}'; {hint}Known: {', '.join(sorted(table))}")
