"""The findings of the networks of evaluations, cached so that none is trained twice."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from lqm.engine import environment
from lqm.utils.cache import cache_folder
from lqm.utils.cache_files import mark_used
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.log import warn

# To be raised by every change of what a score means: of training, networks, augmentation or diagnostics.
_EDITION = 3

Finding = dict[str, list[float]]


def keep(key: dict[str, Any], device: torch.device, find: Callable[[], Finding]) -> Finding:
    """What `find` gives, or what it gave before for the same key on the same machine.

    The key is all that the finding follows from: protocol, seed, training set, source.
    """
    whole = key | {"edition": _EDITION, "environment": environment(device)}
    text = json.dumps(whole, sort_keys=True)
    try:
        path = cache_folder() / "scores" / f"{_hash(text.encode())}.json"
    except ArtifactError as error:
        warn(f"the score of this network is not kept: {error}")
        return find()
    if cached := _read(path):
        mark_used(path)
        return cached
    finding = find()
    stored = {"key": whole, "finding": finding, "sha256": _hash(json.dumps(finding).encode())}
    try:
        write_atomically(path, json.dumps(stored).encode())
    except ArtifactError as error:
        warn(f"the score of this network is not kept: {error}")
    return finding


def _read(path: Path) -> Finding | None:
    """The finding in a file, unless there is none or it is damaged."""
    try:
        stored = json.loads(path.read_bytes())
        finding: Finding = stored["finding"]
        if stored["sha256"] == _hash(json.dumps(finding).encode()):
            return finding
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        warn(f"{path} can't be used ({error}); the network is trained again")
        return None
    warn(f"{path} is damaged; the network is trained again")
    return None


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
