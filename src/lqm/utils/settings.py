"""Settings and options out of what the user gave: typed, in range, and with no unknown name."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

from pydantic import Field, TypeAdapter, ValidationError

from lqm.utils.errors import ConfigError
from lqm.utils.names import choose, shown_value
from lqm.utils.old_names import current_settings

T = TypeVar("T")

Count = Annotated[int, Field(ge=1, lt=2**63, description="a whole number, at least 1")]
Seed = Annotated[int, Field(gt=-(2**64), lt=2**64, description="a whole number of at most 64 bits")]
Size = Annotated[int, Field(ge=1, lt=10**9, description="a whole number of at least 1")]
# Larger numbers are beyond float32, in which is computed.
Positive = Annotated[float, Field(gt=0, le=1e30, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, lt=1)]
Switch = Annotated[bool, Field(description="true or false")]
# Types of the options of a spec that have a range or a description.
_OPTION_TYPES: dict[Any, Any] = {int: Size, bool: Switch}


def make_settings(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a settings dataclass; text is turned into numbers where a number is wanted."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    values = current_settings(values)
    for name in values:
        choose(name, known, "setting")
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        culprit = first["loc"][0] if first["loc"] else "the settings"
        given = shown_value(first["input"])
        raise ConfigError(f"{culprit} = {given} can't be used: {_reason(error)}") from None


def check(name: str, value: object, kind: Any) -> None:
    """Refuse a value that is not of a type such as `Count` or `Count | None`.

    Example:
        >>> check("repeats", 3, Count)
        >>> check("repeats", 1.5, Count)
        Traceback (most recent call last):
        lqm.utils.errors.ConfigError: repeats = 1.5 can't be used: it should be a whole number, at least 1
    """
    try:
        TypeAdapter(kind).validate_python(value, strict=True)
    except ValidationError as error:
        raise ConfigError(f"{name} = {shown_value(value)} can't be used: {_reason(error, kind)}") from None


def parse_assignments(assignments: Iterable[str]) -> dict[str, str]:
    """`name=value` words of the command line as a dictionary.

    Example:
        >>> parse_assignments(("steps=500", "start=noise"))
        {'steps': '500', 'start': 'noise'}
    """
    return dict(_divided(assignments, "setting", "it as name=value, for example steps=500"))


def typed_options(
    kind: str, name: str, constructor: Callable[..., Any], words: Sequence[str]
) -> dict[str, Any]:
    """The options that words such as `width=64` give, in the order of the constructor's signature."""
    known = options_of(constructor)
    if words and not known:
        raise ConfigError(f"{kind} '{name}' has no options, but was given '{words[0]}'; write '{name}' alone")
    example = next((f"{option}={_word(parameter.default)}" for option, parameter in known.items()), "")
    given: dict[str, Any] = {}
    right = f"option=value, such as {name}:{example}"
    for option, text in _divided(words, f"option of {kind} '{name}'", right):
        annotation = choose(option, known, f"option of {name}").annotation
        if option in given:
            raise ConfigError(f"{kind} '{name}' is given '{option}' twice; give each option once")
        given[option] = _typed(f"{option} of {name}", text, _OPTION_TYPES.get(annotation, annotation))
    return {option: given[option] for option in known if option in given}


def spelled(name: str, options: Mapping[str, Any]) -> str:
    """A name with its options, as `typed_options` reads them.

    Example:
        >>> spelled("convnet", {"width": 64, "bias": False})
        'convnet:width=64:bias=false'
    """
    return ":".join([name, *(f"{option}={_word(value)}" for option, value in options.items())])


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def options_of(constructor: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """The parameters of a constructor that have a default, in the order of its signature."""
    parameters = inspect.signature(constructor).parameters
    return {name: each for name, each in parameters.items() if each.default is not each.empty}


def _divided(words: Iterable[str], what: str, right: str) -> Iterator[tuple[str, str]]:
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ConfigError(f"'{word}' is no {what}; write {right}")
        yield name.strip().replace("-", "_"), value.strip()


def _typed(what: str, text: str, kind: Any) -> Any:
    if get_origin(kind) is Literal:
        return choose(text, {word: word for word in get_args(kind)}, what)
    try:
        if get_origin(kind) is tuple:
            return TypeAdapter(kind).validate_python(tuple(text.split(",")))
        return TypeAdapter(kind).validate_strings(text)
    except ValidationError as error:
        raise ConfigError(f"{what} is '{text}'; {_reason(error, kind)}") from None


def _reason(error: ValidationError, kind: Any = Any) -> str:
    """What would be right: a type's own description, else what pydantic says."""
    schema = TypeAdapter(kind).json_schema()
    described = schema.get("anyOf", [schema])[0].get("description")
    message = error.errors()[0]["msg"]
    return f"it should be {described}" if described else message[0].lower() + message[1:]
