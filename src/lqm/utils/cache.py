"""Where things are kept that took long to make and can be made again."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lqm.engine.progress import warn
from lqm.utils.errors import ArtifactError

T = TypeVar("T")


def cache_folder() -> Path:
    """The folder LQM_CACHE, else `lqm` in XDG_CACHE_HOME, else `.cache/lqm` in the home folder.

    Raises:
        ArtifactError: when none of them is known.
    """
    if chosen := os.environ.get("LQM_CACHE"):
        return Path(chosen).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "lqm"
    try:
        return Path.home() / ".cache" / "lqm"
    except RuntimeError as error:
        raise ArtifactError("there is no home folder for the cache; set LQM_CACHE to a folder") from error


def kept(
    what: str,
    key: str,
    make: Callable[[], T],
    *,
    load: Callable[[Path], T | None],
    save: Callable[[Path, str, T], None],
) -> T:
    """What `make` gives, from the cache if it is there; a cache that can't be used is done without.

    Args:
        what: the name of a folder in the cache, such as `images`.
        key: a hash of all that decides the thing; the file is called `key.hash-of-its-content.safetensors`.
        make: makes it.
        load: reads it from a file, or gives None if the file is damaged.
        save: writes it to a folder under a key.
    """
    try:
        folder = cache_folder() / what
    except ArtifactError as error:
        warn(f"the {what} are not kept: {error}")
        return make()
    for path in folder.glob(f"{key}.*.safetensors"):
        if found := load(path):
            return found
        warn(f"{path} was damaged, and is made again")
        with contextlib.suppress(OSError):
            path.unlink()
    made = make()
    save(folder, key, made)
    return made
