"""Distances by a name with options, such as `shape:weight=10`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lqm.distances import ALIASES, DISTANCES, Distance
from lqm.utils.names import choose
from lqm.utils.settings import typed_options


def named_distance(spec: str) -> Distance:
    """The distance of a name; what follows a colon are fields of its class.

    Raises:
        ConfigError: when there is no such distance, or it has no such option.

    Example:
        >>> named_distance("shape:aim=bins:weight=10")
        Shape(name='shape:weight=10.0:aim=bins', weight=10.0, aim='bins')
        >>> named_distance("mmd")
        Mean(name='mean')
    """
    name, *words = spec.split(":")
    name = ALIASES.get(name, name)
    usual: Any = choose(name, DISTANCES, "distance")
    if not words:
        return usual  # type: ignore[no-any-return]
    constructor: Callable[..., Distance] = type(usual)
    options = typed_options("distance", name, partial(constructor, name), words)
    whole = ":".join([name, *(f"{option}={value}" for option, value in options.items())])
    return replace(usual, name=whole, **options)  # type: ignore[no-any-return]
