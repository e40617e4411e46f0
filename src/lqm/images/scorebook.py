"""What each network of an evaluation has found, kept, so that none is trained twice."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

import torch

from lqm.cache import cache_folder
from lqm.engine import environment
from lqm.engine.progress import warn
from lqm.errors import ArtifactError
from lqm.files import write_atomically
from lqm.images.sources import ImageSource, Pictures

Finding = dict[str, list[float]]


def keep(
    key: dict[str, Any],
    pictures: Pictures,
    source: ImageSource,
    device: torch.device,
    find: Callable[[], Finding],
) -> Finding:
    """What `find` gives, or what it gave before for the same key, training pictures, source and machine."""
    whole = key | {
        "pictures": _digest(pictures),
        "source": source.record,
        "preprocessing": source.preprocessing,
        "environment": environment(device),
    }
    text = json.dumps(whole, sort_keys=True)
    path = cache_folder() / "scores" / f"{hashlib.sha256(text.encode()).hexdigest()}.json"
    try:
        stored = json.loads(path.read_bytes())
        if stored["key"] == json.loads(text):
            finding: Finding = stored["finding"]
            return finding
    except (OSError, ValueError, KeyError, TypeError):
        pass
    finding = find()
    try:
        write_atomically(path, json.dumps({"key": whole, "finding": finding}).encode())
    except ArtifactError as error:
        warn(f"the score of this network is not kept: {error}")
    return finding


def _digest(pictures: Pictures) -> str:
    digest = hashlib.sha256()
    for tensor in (pictures.images, pictures.labels):
        digest.update(f"{tensor.dtype}{tuple(tensor.shape)}".encode())
        digest.update(tensor.contiguous().numpy().data)
    return digest.hexdigest()
