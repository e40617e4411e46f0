"""How runs were made, compared: what tells one from the others, in words."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet

Config = Mapping[str, Any]

_MADE = ("method", "distance", "steps", "settings")


def key_of(value: Any) -> str:
    """A JSON value as text: the same for equal ones."""
    return json.dumps(value, sort_keys=True)


def hash_of(value: Any, length: int = 16) -> str:
    """So many hexadecimal digits that tell a JSON value from others."""
    return sha256(key_of(value).encode()).hexdigest()[:length]


def made_of(config: Config) -> dict[str, Any]:
    """How a set was made, but for its budget and seed."""
    made = {name: config[name] for name in _MADE}
    return made | ({"sketch": True} if "sketch" in config else {})


def distance_of(config: Config) -> str | None:
    """The name of the distance that was matched; None where nothing is."""
    distance = config.get("distance")
    return distance["name"] if distance else None


def budget_of(config: Config) -> Any:
    """Images of each class, nodes in all, or a share of them."""
    return next(config[name] for name in ("per_class", "budget") if name in config)


def mosaics_of(condensed: CondensedSet) -> int | None:
    """How many mosaics a set has; None if its records are no cells of mosaics."""
    return len(condensed.labels) if condensed.manifest.get("mosaic", 1) > 1 else None


def apart(config: Config, others: Sequence[Config]) -> dict[str, Any]:
    """The settings in which a run differs from others by the same method."""
    alike = [other.get("settings", {}) for other in others if other["method"] == config["method"]]
    return {
        name: value
        for name, value in config.get("settings", {}).items()
        if any(key_of(other.get(name)) != key_of(value) for other in alike)
    }


def what_differs(runs: Sequence[Config]) -> str:
    """The settings in which runs by the same method differ, row by row; nothing if there are none.

    Example:
        >>> near = {"method": "cat", "settings": {"start": "random", "hops": 1}}
        >>> far = {"method": "cat", "settings": {"start": "noise", "hops": 1}}
        >>> what_differs([near, far, {"method": "random", "settings": {"hops": 1}}])
        'settings that differ: start=random (row 1), start=noise (row 2)'
    """
    words = []
    for number, run in enumerate(runs, start=1):
        own = [f"{name}={value}" for name, value in apart(run, runs).items()]
        own += ["by sketch"] if "sketch" in run else []
        words += [f"{' '.join(own)} (row {number})"] if own else []
    return "settings that differ: " + ", ".join(words) if words else ""


def distinct_labels(configs: Sequence[Config], folders: Sequence[Path]) -> list[str]:
    """A name for each run: method and distance, and as much of what else differs as tells them apart.

    Example:
        >>> runs = [{"method": "dm", "distance": {"name": "lqm"}, "seed": seed} for seed in (0, 1)]
        >>> distinct_labels(runs, [Path("a"), Path("b")])
        ['dm + lqm, seed 0', 'dm + lqm, seed 1']
    """
    labels = [_title(config) for config in configs]
    more = [[words(config) for config in configs] for words in _MORE]
    for found in (*more, [_settings(config, configs) for config in configs]):
        if len({*labels}) < len(labels) and len({*found}) > 1:
            labels = [", ".join(filter(None, pair)) for pair in zip(labels, found, strict=True)]
    if len({*labels}) == len(labels):
        return labels
    names = [folder.name or folder.as_posix() for folder in folders]
    if len({*zip(labels, names, strict=True)}) < len(labels):
        names = _apart(folders)
    return [f"{label} ({name})" for label, name in zip(labels, names, strict=True)]


def _apart(folders: Sequence[Path]) -> list[str]:
    """Folders by their paths below the one that they have in common, and not by where that stands."""
    whole = [os.path.abspath(folder) for folder in folders]
    return [Path(os.path.relpath(path, os.path.commonpath(whole))).as_posix() for path in whole]


def size_of(config: Config) -> str:
    """How large a set is, in words; nothing for a stream without a memory.

    Example:
        >>> size_of({"per_class": 10}), size_of({"budget": 27}), size_of({"budget": None})
        ('10 a class', '27 nodes', '')
        >>> size_of({"per_class": 10, "mosaic": 2})
        '10 mosaics = 40 images a class'
    """
    if "per_class" in config:
        images, cells = config["per_class"], config.get("mosaic", 1) ** 2
        return (
            f"{images:,} mosaics = {cells * images:,} images a class" if cells > 1 else f"{images:,} a class"
        )
    budget = config.get("budget")
    return "" if budget is None else budget if isinstance(budget, str) else f"{budget:,} nodes"


def _title(config: Config) -> str:
    return " + ".join(filter(None, (config["method"], distance_of(config))))


def _settings(config: Config, others: Sequence[Config]) -> str:
    return ", ".join(f"{name} {value}" for name, value in apart(config, others).items())


_MORE: tuple[Callable[[Config], str], ...] = (
    size_of,
    lambda config: f"seed {config['seed']}" if "seed" in config else "",
    lambda config: f"{config['steps']:,} steps" if "steps" in config else "",
    lambda config: "by sketch" if "sketch" in config else "",
)
