"""Decoded images kept as safetensors, found again by the content of the files that they came from."""

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import PIL
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from lqm.engine.progress import warn
from lqm.images.sources.found import Found, Reading
from lqm.images.sources.source import Images
from lqm.utils.cache import kept
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash, write_atomically


def content_key(described: str, reading: Reading, root: Path, files: Iterable[Path]) -> str:
    """A hash of all that decides a set: how it is read, and the names and bytes of its files.

    Args:
        described: what the files don't say themselves, such as the layout, labels and names of classes.
        reading: the size of the images.
        root: the folder that the names of the files are relative to.
        files: the files in their order.
    """
    digest = hashlib.sha256(f"{described}/{reading.size}/{PIL.__version__}".encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\0{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:32]


def cached(key: str, read: Callable[[], Found]) -> Found:
    """What `read` gives, from the cache if it is there; a cache that can't be used is done without."""
    return kept("images", key, read, load=_load, save=_save)


def _save(folder: Path, key: str, found: Found) -> None:
    tensors = {"train.images": found.train.images, "train.labels": found.train.labels}
    if found.test:
        tensors |= {"test.images": found.test.images, "test.labels": found.test.labels}
    content = save(tensors, {"class_names": json.dumps(found.class_names)})
    try:
        write_atomically(folder / f"{key}.{short_hash(content)}.safetensors", content)
    except ArtifactError as error:
        warn(f"the decoded images are not kept: {error}")


def _load(path: Path) -> Found | None:
    """The set in a file, unless the file is not what its name says."""
    try:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest()[:32] != path.name.split(".")[1]:
                return None
        with safe_open(path, framework="pt") as tensors:
            parts = {
                part: Images(*(tensors.get_tensor(f"{part}.{what}") for what in ("images", "labels")))
                for part in ("train", "test")
                if f"{part}.images" in tensors.keys()  # noqa: SIM118 (it is no dictionary)
            }
            class_names = tuple(json.loads(tensors.metadata()["class_names"]))
    except (OSError, SafetensorError):
        return None
    return Found(parts["train"], parts.get("test"), class_names)
