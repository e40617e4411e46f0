"""A condensed set of images as a folder of class folders, as image loaders of all kinds read it."""

import glob
import json
import re
import shutil
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from secrets import token_hex
from typing import Any

from lqm.condensed.images import CondensedImages
from lqm.condensed.sheet import as_png

_CLASSES = "classes.json"
# Hugging Face would take `training.json`, which earlier versions wrote, for the training set.
LEARNING, OLD_LEARNING = "learning.json", "training.json"
# What some file system takes for something else, control characters, and halves of what is no text.
_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f/\\:*?"<>|\ud800-\udfff]')
_LONGEST_NAME = 60
# What is older was left by a process that was killed.
_STALE_SECONDS = 86_400.0


def safe_names(names: Sequence[str]) -> list[str]:
    """Names that every file system takes as folders, each once, as near as can be to the given ones.

    Example:
        >>> safe_names(["cat", "cat/dog", "..", "", "Cat"])
        ['cat', 'cat_dog', 'class', 'class-2', 'Cat-2']
    """
    taken = {_CLASSES, LEARNING, "readme.md", "lqm.json"}
    safe = []
    for name in names:
        cleaned = _UNSAFE.sub("_", unicodedata.normalize("NFC", name))[:_LONGEST_NAME].strip(". ") or "class"
        free, copy = cleaned, 1
        while free.casefold() in taken:
            copy += 1
            free = f"{cleaned}-{copy}"
        taken.add(free.casefold())
        safe.append(free)
    return safe


def write_folder(condensed: CondensedImages, path: Path, beside: Mapping[str, bytes] | None = None) -> None:
    """`<class>/<number>.png`, and the classes in the order of their labels in `classes.json`.

    All is written beside `path` and then renamed, so that there is never half a folder. `beside` are more
    files of the folder. A folder that is there already is replaced.
    """
    images, labels = condensed.records()
    folders = safe_names(condensed.class_names)
    path = path.resolve()
    partial = path.with_name(f".{path.name[:40]}.{token_hex(8)}.partial")
    for left in path.parent.glob(f"{glob.escape(f'.{path.name[:40]}')}.*.partial"):
        if time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)
    old = None
    try:
        partial.mkdir(parents=True)
        for label, folder in enumerate(folders):
            (partial / folder).mkdir()
            for number, image in enumerate(images[labels == label]):
                (partial / folder / f"{number:05}.png").write_bytes(as_png(image))
        classes = [
            {"label": label, "name": name, "folder": folder}
            for label, (name, folder) in enumerate(zip(condensed.class_names, folders, strict=True))
        ]
        listed = json.dumps(classes, indent=2, ensure_ascii=False) + "\n"
        (partial / _CLASSES).write_bytes(listed.encode(errors="backslashreplace"))
        if condensed.learning_rate is not None or condensed.soft_labels is not None:
            (partial / LEARNING).write_text(json.dumps(_training(condensed, folders), indent=2) + "\n")
        for name, content in (beside or {}).items():
            (partial / name).write_bytes(content)
        if path.exists():
            path.rename(old := path.with_name(f"{partial.name}.old.partial"))
        partial.rename(path)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        if old and not path.exists():
            old.rename(path)
        raise
    if old:
        shutil.rmtree(old)


def _training(condensed: CondensedImages, folders: Sequence[str]) -> dict[str, Any]:
    """What a folder of images does not say: the rate to learn at, and the soft labels of each file."""
    found: dict[str, Any] = {"learning_rate": condensed.learning_rate}
    if condensed.soft_labels is not None:
        counts = Counter[int]()
        files: dict[str, list[float]] = {}
        for label, shares in zip(condensed.records()[1].tolist(), condensed.targets().tolist(), strict=True):
            files[f"{folders[label]}/{counts[label]:05}.png"] = shares
            counts[label] += 1
        found["soft_labels"] = files
    return found


def is_export(folder: Path) -> bool:
    """Whether a folder is one that `write_folder` has written."""
    return (folder / _CLASSES).is_file()
