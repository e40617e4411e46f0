"""Settings out of what the user gave: typed, in range, and with no unknown key."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose

T = TypeVar("T")

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]


def make_settings(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a settings dataclass; text is turned into numbers where a number is wanted.

    Raises:
        ConfigError: with the setting, what it was given, and what would be right.
    """
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for name in values:
        choose(name, known, "setting")
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        reason = first["msg"][0].lower() + first["msg"][1:]
        raise ConfigError(f"{first['loc'][0]} = {first['input']!r} can't be used: {reason}") from None


def parse_assignments(assignments: tuple[str, ...]) -> dict[str, str]:
    """`key=value` words of the command line as a dictionary.

    Example:
        >>> parse_assignments(("steps=500", "start=noise"))
        {'steps': '500', 'start': 'noise'}
    """
    values = {}
    for word in assignments:
        name, equals, value = word.partition("=")
        if not equals:
            raise ConfigError(f"'{word}' is no setting; write it as name=value, for example steps=500")
        values[name.strip().replace("-", "_")] = value.strip()
    return values
