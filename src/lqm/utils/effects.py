"""Which settings have an effect beside which: a settings class says it of each field, once."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, get_args, get_origin, get_type_hints

# What a run may be given in place of a setting: names that no setting has.
BANK = "a bank of experts"


class OnlyIf:
    """Marks a setting that has an effect only while another has one of some values.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Settings:
        ...     labels: str = "hard"
        ...     label_learning_rate: Annotated[float, OnlyIf("labels", "learned")] = 2.0
        >>> effective(Settings()), effective(Settings(labels="learned"))
        ({'labels': 'hard'}, {'labels': 'learned', 'label_learning_rate': 2.0})
    """

    def __init__(self, setting: str, *values: object) -> None:
        self.setting, self.values = setting, values

    def holds(self, known: Mapping[str, object]) -> bool:
        """Whether it has an effect beside the values of other settings."""
        return self.setting in known and known[self.setting] in self.values


class Unless(OnlyIf):
    """Marks a setting that has no effect while another has one of some values."""

    def holds(self, known: Mapping[str, object]) -> bool:
        """Whether it has an effect beside the values of other settings."""
        return not super().holds(known)


def conditions_of(kind: type[Any]) -> dict[str, list[OnlyIf]]:
    """The conditions of each field of a settings class, all of which must hold.

    A class that gives a field another default keeps the conditions of the class that it extends.
    """
    found: dict[str, list[OnlyIf]] = {}
    for each in kind.__mro__[:-1]:
        for name, hint in get_type_hints(each, include_extras=True).items():
            marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
            own = found.setdefault(name, [])
            own += [mark for mark in marks if isinstance(mark, OnlyIf) and mark not in own]
    return found


def effective(settings: Any, recorded: Mapping[str, Any] | None = None, *given: str) -> dict[str, Any]:
    """The settings that have an effect, by name; one that is None has none.

    Args:
        settings: a settings dataclass.
        recorded: the same as it is recorded, where that differs.
        *given: what the run has in place of settings, such as `BANK`.
    """
    values = asdict(settings) if recorded is None else dict(recorded)
    known = asdict(settings) | dict.fromkeys(given, True)
    conditions = conditions_of(type(settings))
    return {
        name: value
        for name, value in values.items()
        if value is not None and all(mark.holds(known) for mark in conditions.get(name, ()))
    }
