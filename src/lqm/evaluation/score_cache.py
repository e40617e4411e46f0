"""The findings of the networks of evaluations, cached so that none is trained twice."""

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lqm.engine import environment
from lqm.utils.cache import cache_folder
from lqm.utils.cache_files import mark_used
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.files import read_whole, remove_temporaries, write_atomically
from lqm.utils.log import warn

# To be raised by every change of what a score means: of training, networks, augmentation or diagnostics.
_EDITION = 4

Finding = dict[str, list[float]]


def keep(key: dict[str, Any], device: torch.device, find: Callable[[], Finding]) -> Finding:
    """What `find` gives, or what it gave before for the same key on the same machine.

    The key is all that the finding follows from: protocol, seed, training set, source.
    """
    if found := cached(key, device):
        return found
    finding = find()
    store(key, device, finding)
    return finding


def cached(key: dict[str, Any], device: torch.device) -> Finding | None:
    """What was found before for the same key on the same machine, if anything was."""
    try:
        path, whole = _place(key, device)
    except ArtifactError:
        return None
    finding = _read(path, json.loads(json.dumps(whole)))
    if finding:
        mark_used(path)
    return finding


def store(key: dict[str, Any], device: torch.device, finding: Finding) -> None:
    """Keep what was found; where that can't be, a warning says so."""
    try:
        path, whole = _place(key, device)
        stored: dict[str, Any] = {"key": whole, "finding": finding}
        stored["sha256"] = _hash(json.dumps(stored, sort_keys=True).encode())
        remove_temporaries(path.parent)
        write_atomically(path, json.dumps(stored).encode())
    except ArtifactError as error:
        warn(f"the score of this network is not kept: {error}")


def _place(key: dict[str, Any], device: torch.device) -> tuple[Path, dict[str, Any]]:
    """The file of a key, and all that it depends on."""
    whole = key | {"edition": _EDITION, "environment": environment(device)}
    name = _hash(json.dumps(whole, sort_keys=True).encode())
    return cache_folder() / "scores" / f"{name}.json", whole


def _read(path: Path, key: dict[str, Any]) -> Finding | None:
    """The finding in a file, unless there is none, it is damaged or that of another key."""
    try:
        stored = json.loads(read_whole(path))
        digest, finding = stored.pop("sha256"), stored["finding"]
        if stored["key"] != key:
            warn(f"{path} is the score of something else; the network is trained again")
            return None
        if digest == _hash(json.dumps(stored, sort_keys=True).encode()) and _is_finding(finding):
            found: Finding = finding
            return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, DataError) as error:
        warn(f"{path} can't be used ({error}); the network is trained again")
        return None
    warn(f"{path} is damaged; the network is trained again")
    return None


def _is_finding(value: object) -> bool:
    """Whether it is lists of numbers by name."""
    return isinstance(value, dict) and all(
        isinstance(numbers, list) and all(type(n) in (int, float) and not math.isinf(n) for n in numbers)
        for numbers in value.values()
    )


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
