"""Whether the file of a study holds values of the kinds that a grid takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lqm.studies.lines import ARM
from lqm.utils.errors import ConfigError
from lqm.utils.names import shown_value

TABLES = ("settings", "tune", "sketch", "experts")


def check_block(study: str, block: Mapping[str, Any]) -> None:
    """Refuse a grid with anything but tables, names, numbers and lists of these where each belongs.

    Raises:
        ConfigError: naming the study and the value.
    """
    for name in TABLES:
        _check_table(study, name, block.get(name, {}))
    for name, value in block.items():
        if name not in TABLES:
            _check_values(study, name, value)
    if not isinstance(block.get(ARM, ""), str):
        raise _unusable(study, ARM, block[ARM], "a name; give each arm a grid of its own")
    if not isinstance(block.get("validation", False), bool):
        raise _unusable(study, "validation", block["validation"], "true or false")
    if block.get("validation") and "tune" in block:
        raise ConfigError(
            f"study {study}: a grid that is scored on validation records has a tune, which would choose by "
            "the same ones; leave one of them out"
        )
    sources = block.get("source", "digits")
    if not all(isinstance(source, str) for source in (sources if isinstance(sources, list) else [sources])):
        raise _unusable(study, "source", sources, "a name such as 'digits', or a list of them")


def check_scores(study: str, scores: object) -> list[Mapping[str, Any]]:
    """The published numbers of a study, if each is a table with an accuracy.

    Raises:
        ConfigError: naming the study and the value.
    """
    right = isinstance(scores, list) and all(
        isinstance(score, Mapping) and _is_number(score.get("accuracy")) for score in scores
    )
    if not right:
        raise _unusable(study, "paper_scores", scores, "one or more [[paper_scores]], each with an accuracy")
    assert isinstance(scores, list)
    return scores


def check_word(study: str, name: str, value: object) -> str:
    """A name or a number as text.

    Raises:
        ConfigError: naming the study and the value.
    """
    if not isinstance(value, str) and not _is_number(value):
        raise _unusable(study, name, value, "a name")
    return str(value)


def _check_table(study: str, name: str, table: object) -> None:
    if not isinstance(table, Mapping):
        raise _unusable(study, name, table, "a table")
    for own, value in table.items():
        check = _check_table if own == "settings" else _check_values
        check(study, f"{name}.{own}", value)


def _check_values(study: str, name: str, value: object) -> None:
    values: Sequence[object] = value if isinstance(value, list) else [value]
    if not values:
        raise ConfigError(f"study {study}: there is no value for {name}; give some, or leave it out")
    for each in values:
        if not isinstance(each, str | bool) and not _is_number(each):
            raise _unusable(study, name, each, "a name, a number, true or false, or a list of these")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _unusable(study: str, name: str, value: object, right: str) -> ConfigError:
    return ConfigError(f"study {study}: {name} is {shown_value(value)}; it should be {right}")
