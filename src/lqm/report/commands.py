"""The command that makes a set again, from its manifest."""

from collections.abc import Iterator, Mapping
from shlex import join
from typing import Any

from lqm.condensed.described import IMPORTED
from lqm.utils.places import without_places

_FLAGS = ("normalised", "zca", "clip")
_OF_SOURCE = ("size", "test_fraction", "features", "split")


def command_of(manifest: Mapping[str, Any]) -> str | None:
    """The words for a terminal; None of a set whose source was made in Python, or that is no run's.

    Example:
        >>> made = {"method": "dm", "per_class": 10, "seed": 0, "steps": 100}
        >>> command_of(made | {"settings": {"init": "noise"}, "origin": {"source": "digits"}})
        'lqm condense digits --method dm --per-class 10 --seed 0 --set steps=100 --set init=noise'
    """
    origin = without_places(manifest.get("origin"))
    if origin is None or not {"method", "settings", "seed", "steps"} <= manifest.keys():
        return None
    if manifest["method"] == IMPORTED:
        return join(_importing(manifest, origin)) if "file" in manifest["settings"] else None
    return join(_condensing(manifest, origin))


def _condensing(manifest: Mapping[str, Any], origin: Mapping[str, Any]) -> Iterator[str]:
    yield from ("lqm", "condense", origin["source"], "--method", manifest["method"])
    if distance := manifest.get("distance"):
        yield from ("--distance", distance["name"])
    for name in ("per_class", "budget"):
        if manifest.get(name) is not None:
            yield from (f"--{name.replace('_', '-')}", str(manifest[name]))
    yield from _of_source(origin)
    yield from ("--seed", str(manifest["seed"]))
    for name in ("sketch", "experts"):
        if name in manifest:
            yield from (f"--{name}", name)
    for name, value in {"steps": manifest["steps"], **manifest["settings"]}.items():
        if value is not None:
            yield from ("--set", f"{name}={value}")


def _importing(manifest: Mapping[str, Any], origin: Mapping[str, Any]) -> Iterator[str]:
    settings = manifest["settings"]
    yield from ("lqm", "import", settings["file"], "--source", origin["source"])
    yield from _of_source(origin)
    yield from (f"--{name}" for name in _FLAGS if settings.get(name))
    yield from ("--labels", "soft") if settings.get("soft") else ()
    for name in ("rate", "mosaic", "item"):
        if name in settings:
            yield from (f"--{name}", str(settings[name]))


def _of_source(origin: Mapping[str, Any]) -> Iterator[str]:
    for name in _OF_SOURCE:
        if origin.get(name) is not None:
            yield from (f"--{name.replace('_', '-')}", str(origin[name]))
    if origin.get("augmentation"):
        yield from ("--augmentation", ",".join(origin["augmentation"]))
    if origin.get("normalise_features"):
        yield "--normalise-features"
