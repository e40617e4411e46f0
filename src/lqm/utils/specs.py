"""Reading the options in `name:option=value:...`; a constructor's signature says which there are."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, get_args

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose

_NUMBER = re.compile(r"0*[1-9][0-9]{0,8}")


T = TypeVar("T", bound=Callable[..., Any])


def read_spec(spec: str, table: Mapping[str, T]) -> tuple[str, dict[str, Any]]:
    """Name and options of a network in a table.

    Raises:
        ConfigError: when there is no such network, option or value.
    """
    name, *words = spec.split(":")
    return name, read_options(name, choose(name, table, "network"), words)


def canonical(spec: str, table: Mapping[str, T]) -> str:
    """A spec with the options that were given, in the order of the network's constructor."""
    name, options = read_spec(spec, table)
    return ":".join([name, *(f"{option}={value}" for option, value in options.items())])


def described(spec: str, table: Mapping[str, Any]) -> str:
    """A network's title, with the options that differ from their default and are not in it."""
    name, given = read_spec(spec, table)
    title, usual = table[name].title, defaults(table[name])
    differences = [
        f"no {option}" if value == "none" else f"{value} {option}"
        for option, value in given.items()
        if value != usual[option] and f"{{{option}}}" not in title
    ]
    return ", ".join([title.format_map(usual | given), *differences])


def defaults(constructor: Callable[..., Any]) -> dict[str, Any]:
    """The options of a constructor with their defaults, in the order of its signature."""
    parameters = inspect.signature(constructor).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def read_options(name: str, constructor: Callable[..., Any], words: Sequence[str]) -> dict[str, Any]:
    """The options that words such as `width=64` give, in the order of the constructor's signature.

    Raises:
        ConfigError: when a word is no option of the constructor, or its value is none of that option's.
    """
    known = defaults(constructor)
    if words and not known:
        raise ConfigError(
            f"network '{name}' has no options, but was given '{words[0]}'; write '{name}' alone"
        )
    given: dict[str, Any] = {}
    for word in words:
        option, equals, value = word.partition("=")
        if not equals:
            raise ConfigError(
                f"'{word}' is no option of network '{name}'; write option=value, such as "
                f"{name}:{next(f'{key}={default}' for key, default in known.items())}"
            )
        choose(option, known, f"option of {name}")
        if option in given:
            raise ConfigError(f"network '{name}' is given '{option}' twice; give each option once")
        given[option] = _read_value(f"{option} of {name}", constructor, option, value)
    return {option: given[option] for option in known if option in given}


def _read_value(what: str, constructor: Callable[..., Any], option: str, value: str) -> Any:
    kind = inspect.signature(constructor).parameters[option].annotation
    if kind is not int:
        return choose(value, {word: word for word in get_args(kind)}, what)
    if not _NUMBER.fullmatch(value):
        raise ConfigError(f"{what} is '{value}'; it should be a whole number of at least 1")
    return int(value)
