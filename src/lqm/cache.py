"""Where things are kept that took long to make and can be made again."""

import os
from pathlib import Path

from lqm.errors import ArtifactError


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
