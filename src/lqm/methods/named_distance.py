"""Distances by a name with options, such as `shape:weight=10`."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from lqm.distances import ALIASES, DISTANCES, Distance
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose
from lqm.utils.settings import spelled, typed_options


def named_distance(spec: str) -> Distance:
    """The distance of a name; what follows a colon are fields of its class.

    Raises:
        ConfigError: when there is no such distance, or it has no such option.

    Example:
        >>> named_distance("shape:aim=bins:weight=10")
        Shape(name='shape:weight=10.0:aim=bins', weight=10.0, aim='bins')
        >>> named_distance("mmd"), named_distance("shape:weight=3")
        (Mean(name='mean'), Shape(name='shape', weight=3.0, aim='quantiles'))
    """
    name, *words = spec.split(":")
    name = ALIASES.get(name, name)
    usual: Any = choose(name, DISTANCES, "distance")
    if not words:
        return usual  # type: ignore[no-any-return]
    constructor: Callable[..., Distance] = type(usual)
    given = typed_options("distance", name, partial(constructor, name), words)
    options = {option: value for option, value in given.items() if value != getattr(usual, option)}
    try:
        return replace(usual, name=spelled(name, options), **options)  # type: ignore[no-any-return]
    except ValueError as error:
        raise ConfigError(f"distance '{spec}' can't be used: {error}") from None
