"""Condensed sets, read and named for a reader who sees several of them at once."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lqm.condensed import CondensedSet, load
from lqm.evaluating import kind_of
from lqm.report.records import apart
from lqm.scores import Kind, refuse_memory

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One of the sets that are looked at together.

    Attributes:
        label: short, and unlike the others'.
        small: the set.
        folder: where it was read from.
    """

    label: str
    condensed: CondensedSet
    folder: Path

    @property
    def manifest(self) -> Manifest:
        """Where the set comes from, how it was made, and what it scored."""
        return self.condensed.manifest

    @property
    def kind(self) -> Kind:
        """How it is judged: as images, or as nodes."""
        return kind_of(self.condensed)

    @property
    def records(self) -> int:
        """How many a network is trained on: cells of mosaics, nodes with a label."""
        cells: int = self.manifest.get("mosaic", 1) ** 2
        return cells * int((self.condensed.labels >= 0).sum())


def read_cases(folders: Sequence[str | Path]) -> list[Case]:
    """Read sets, each of them once.

    Raises:
        ArtifactError: when a folder holds none, or a damaged one.
        ConfigError: when it is the memory of a stream.
    """
    sets = {folder: load(folder) for folder in each_once(folders)}
    for condensed in sets.values():
        refuse_memory(condensed.manifest)
    labels = distinct_labels([condensed.manifest for condensed in sets.values()], [*sets])
    return [Case(label, sets[path], path) for label, path in zip(labels, sets, strict=True)]


def each_once(folders: Sequence[str | Path]) -> list[Path]:
    """Folders as they were first named, each of them once, by whatever names it was given."""
    once: dict[str, Path] = {}
    for folder in folders:
        once.setdefault(os.path.realpath(folder), Path(folder))
    return [*once.values()]


def distinct_labels(configs: Sequence[Manifest], folders: Sequence[Path]) -> list[str]:
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
        names = [folder.as_posix() for folder in folders]
    return [f"{label} ({name})" for label, name in zip(labels, names, strict=True)]


def size_of(config: Manifest) -> str:
    """How large a set is, in words; nothing for a stream without a memory.

    Example:
        >>> size_of({"per_class": 10}), size_of({"budget": 27}), size_of({"budget": None})
        ('10 a class', '27 nodes', '')
    """
    if "per_class" in config:
        return f"{config['per_class']:,} a class"
    budget = config.get("budget")
    return "" if budget is None else budget if isinstance(budget, str) else f"{budget:,} nodes"


def _title(config: Manifest) -> str:
    distance = config["distance"]
    return f"{config['method']} + {distance['name']}" if distance else str(config["method"])


def _settings(config: Manifest, others: Sequence[Manifest]) -> str:
    return ", ".join(f"{name} {value}" for name, value in apart(config, others).items())


_MORE: tuple[Callable[[Manifest], str], ...] = (
    size_of,
    lambda config: f"seed {config['seed']}" if "seed" in config else "",
    lambda config: f"{config['steps']:,} steps" if "steps" in config else "",
    lambda config: "by sketch" if "sketch" in config else "",
)
