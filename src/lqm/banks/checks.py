"""Whether a sketch can be used for what is asked of it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from lqm.banks.bank import Bank
from lqm.banks.sketch import Sketch
from lqm.distances import DISTANCES, Distance
from lqm.distances.grid import needs
from lqm.utils.errors import ArtifactError, ConfigError, DataError
from lqm.utils.settings import make_settings

_NEEDED = {
    "sketched": ("source", "method", "max_per_class", "seed", "settings"),
    "experts": ("source", "settings"),
}


def require_fine_enough(sketch: Sketch, distance: Distance | None, records: int) -> None:
    """Refuse a distance that needs more than a sketch keeps, and more records than it was made for.

    Raises:
        ConfigError: with what would work.
    """
    if distance is not None and needs(distance) == "records":
        able = ", ".join(name for name, known in DISTANCES.items() if needs(known) != "records")
        raise ConfigError(
            f"distance '{distance.name}' compares whole records, and a sketch keeps each feature by itself; "
            f"choose one of {able}, or condense without the sketch"
        )
    most = sketch.config["max_per_class"]
    if records > most:
        raise ConfigError(
            f"the sketch in {sketch.path} is fine enough for {most} synthetic records of a class, not for "
            f"{records}; make one with --max-per-class {records}"
        )


def require_same_source(
    bank: Bank, record: Mapping[str, Any], stream: Mapping[str, Any] | None = None
) -> None:
    """Refuse a source that is not the one that a bank was made of; its name may differ.

    Args:
        bank: the bank.
        record: of the source.
        stream: the options of the stream of its tasks; None for the whole source.

    Raises:
        ArtifactError: if the bank does not say what it was made of.
        ConfigError: if the bank is of another stream, or one of the two is of a stream and the other is not.
        DataError: if its data are not the same.
    """
    for name in _NEEDED[bank.kind.entry]:
        if name not in bank.config:
            raise ArtifactError(
                f"run.json in {bank.path} says no '{name}'; restore it from a copy, or call "
                f"`{bank.kind.command}` for another folder"
            )
    if bank.config.get("stream") != stream:
        raise ConfigError(
            f"what is in {bank.path} was made of {_in_words(bank.config.get('stream'))}, and this is "
            f"{_in_words(stream)}; call `{bank.kind.command}` for it first"
        )
    theirs = {name: value for name, value in bank.config["source"].items() if name != "name"}
    if theirs != {name: value for name, value in record.items() if name != "name"}:
        raise DataError(
            f"what is in {bank.path} was made of '{bank.config['source']['name']}', and this "
            f"'{record['name']}' has other data; call `{bank.kind.command}` for it first"
        )


def _in_words(words: Mapping[str, Any] | None) -> str:
    """What a bank or a run looks at, with the options of a stream as the command line has them."""
    if words is None:
        return "all classes at once"
    given = (f"--{name.replace('_', '-')} {value}" for name, value in words.items())
    return f"a stream of tasks ({', '.join(given)})"


def sketched_method(sketch: Sketch, method: str | None) -> str:
    """The method that a sketch is for.

    Raises:
        ConfigError: if another one was asked for.
    """
    own: str = sketch.config["method"]
    if method not in (None, own):
        raise ConfigError(f"the sketch in {sketch.path} is for method '{own}'; make one for '{method}'")
    return own


def sketched_settings(
    sketch: Sketch, kind: type[Any], settings: Mapping[str, Any], live: tuple[str, ...]
) -> dict[str, Any]:
    """Settings as they were given, and those of the sketch, which can't be changed any more.

    Args:
        sketch: the sketch.
        kind: the method's class of settings.
        settings: as they were given.
        live: the names of those by which the method chooses encoders, which the sketch has chosen.

    Raises:
        ConfigError: if one of them was given otherwise, or has no effect.
    """
    for name in live:
        if name in settings:
            raise ConfigError(f"{name} has no part in a condensation by a sketch; leave it out")
    fixed: dict[str, Any] = sketch.config["settings"]
    asked = asdict(make_settings(kind, {**fixed, **settings}))
    for name, value in fixed.items():
        if asked[name] != value:
            raise ConfigError(
                f"the sketch in {sketch.path} was made with {name} = {value!r}, not {asked[name]!r}; leave "
                f"{name} out, or make another sketch"
            )
    return {**settings, **fixed, **{name: asked[name] for name in live}}


def settings_to_sketch(method: str, names: tuple[str, ...], settings: Mapping[str, Any]) -> None:
    """Refuse settings on which the real side does not depend; `names` are those on which it does.

    Raises:
        ConfigError: naming the first of them.
    """
    for name in settings:
        if name not in names:
            raise ConfigError(
                f"setting '{name}' has no part in a sketch for '{method}', only {', '.join(names)} have; "
                "give it to `lqm condense`"
            )
