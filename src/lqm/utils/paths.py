"""Paths that the user gave, and what of a path may be shown to others."""

import os
from pathlib import Path

from lqm.utils.errors import ConfigError
from lqm.utils.names import shown_value
from lqm.utils.terminal import visible

_LONGEST, _LONGEST_NAME = 4000, 255


def as_path(given: object, name: str) -> Path:
    """A path from what the user gave as an argument of that name.

    Raises:
        ConfigError: when it is no path, or one that no file system has.

    Example:
        >>> as_path("runs/a", "out").name
        'a'
    """
    if not isinstance(given, str | os.PathLike) or isinstance(text := os.fspath(given), bytes):
        raise ConfigError(
            f"{name} = {shown_value(given)} can't be used: it should be a path such as 'runs/a'"
        )
    try:
        longest = max((len(os.fsencode(part)) for part in Path(text).parts), default=0)
    except UnicodeEncodeError:
        longest = -1
    if longest < 0 or "\0" in text:
        raise ConfigError(f"{name} = {shown_value(given)} can't be used: no path has such a character")
    if len(text) > _LONGEST or longest > _LONGEST_NAME:
        shown = visible(text[:_LONGEST])
        raise ConfigError(
            f"{name} = {shown} can't be used: it is longer than the name of a file or folder can be"
        )
    return Path(text)


def near_path(path: str | Path) -> Path:
    """A place below the working directory as a person would type it; any other as it is.

    Example:
        >>> str(near_path(Path.cwd() / "data" / "photos")), str(near_path("/elsewhere/photos"))
        ('data/photos', '/elsewhere/photos')
    """
    here, place = Path.cwd(), Path(path)
    return place.relative_to(here) if place != here and place.is_relative_to(here) else place


def shown_path(path: str | Path) -> str:
    """What others may see of a path: it as it was typed below the working directory, else its last part.

    Where a folder stands on a machine, and so the name of its user, is nobody else's business.

    Example:
        >>> shown_path("/home/ada/runs/lqm"), shown_path("runs/lqm"), shown_path("../ada/lqm")
        ('lqm', 'runs/lqm', 'lqm')
    """
    typed = Path(path)
    parts = typed.parts
    if typed.is_absolute() or ".." in parts or (parts and parts[0].startswith("~")):
        return typed.name if typed.name not in ("", "..") else typed.resolve().name or "folder"
    return typed.as_posix()
