"""Lists of whole numbers as they are typed."""

from typing import Annotated

from lqm.utils.errors import ConfigError

_LARGEST = 10**18
_MOST = 1000


def whole_numbers(option: str, text: str, *, least: int | None = None) -> list[int]:
    """The numbers of a list such as `0,3,5` or `0..4`, which includes 4; each of them once.

    Raises:
        ConfigError: naming the option.

    Example:
        >>> whole_numbers("--seed", "7"), whole_numbers("--seed", "0,3..5,3")
        ([7], [0, 3, 4, 5])
        >>> whole_numbers("-s", "x")
        Traceback (most recent call last):
        lqm.utils.errors.ConfigError: -s x can't be used: give whole numbers, such as 3 or 1,10,50 or 1..4
    """
    from pydantic import Field, TypeAdapter, ValidationError

    numbers: list[int] = []
    low = -_LARGEST if least is None else least
    kind = TypeAdapter(list[Annotated[int, Field(ge=low, le=_LARGEST)]])
    for piece in text.split(","):
        try:
            ends = kind.validate_python(piece.split(".."))
        except ValidationError:
            ends = []
        if len(ends) not in (1, 2) or ends[-1] < ends[0]:
            right = "" if least is None else f" from {least} on"
            raise ConfigError(
                f"{option} {text} can't be used: give whole numbers{right}, such as 3 or 1,10,50 or 1..4"
            )
        if ends[-1] - ends[0] >= _MOST:
            raise ConfigError(f"{option} {text} can't be used: give at most {_MOST:,} values at a time")
        numbers += range(ends[0], ends[-1] + 1)
    return list(dict.fromkeys(numbers))
