"""Decoded images kept as safetensors, found again by the content of the files that they came from."""

from collections.abc import Callable, Iterable
from pathlib import Path

import PIL

from lqm.images.sources.found import Found, Reading
from lqm.images.sources.source import Images
from lqm.utils import cache
from lqm.utils.cache import Packed, kept


def content_key(described: str, reading: Reading, root: Path, files: Iterable[Path]) -> str:
    """A hash of all that decides a set: how it is read, and the names and bytes of its files."""
    return cache.content_key(f"{described}/{reading.size}/{PIL.__version__}", root, files)


def cached(key: str, read: Callable[[], Found]) -> Found:
    """What `read` gives, from the cache if it is there; a cache that can't be used is done without."""
    return kept("images", key, read, pack=_pack, unpack=_unpack)


def _pack(found: Found) -> Packed:
    tensors = {"train.images": found.train.images, "train.labels": found.train.labels}
    if found.test:
        tensors |= {"test.images": found.test.images, "test.labels": found.test.labels}
    return Packed(tensors, {"class_names": found.class_names})


def _unpack(packed: Packed) -> Found:
    parts = {
        part: Images(*(packed.tensors[f"{part}.{what}"] for what in ("images", "labels")))
        for part in ("train", "test")
        if f"{part}.images" in packed.tensors
    }
    return Found(parts["train"], parts.get("test"), tuple(packed.notes["class_names"]))
