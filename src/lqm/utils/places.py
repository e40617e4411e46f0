"""Where real data stand on this machine: noted in the cache, never in a set, which may be given away.

A set names its data by their last component and knows them by their fingerprint; the cache says under the
fingerprint where they were found last.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lqm.utils.cache import cache_folder
from lqm.utils.errors import LqmError
from lqm.utils.files import write_atomically
from lqm.utils.log import warn
from lqm.utils.own_files import read_json, require_fields
from lqm.utils.paths import shown_path

Words = Mapping[str, Any]

_PLACES = ("source", "data_dir")
_NOTE = TypeAdapter(dict[str, str])


def note_places(origin: Words | None, fingerprint: str) -> None:
    """Note where data stand, if that is no name; a cache that can't be written is done without."""
    places = {name: origin[name] for name in _PLACES if _is_place(origin.get(name))} if origin else {}
    if not places:
        return
    try:
        path = _note(fingerprint)
        if not path.exists() or path.read_text("utf-8") != json.dumps(places):
            write_atomically(path, json.dumps(places).encode())
    except (LqmError, OSError, ValueError) as error:
        warn(f"where the data are is not noted, so name them with --source later: {error}")


def noted_places(fingerprint: str) -> dict[str, str]:
    """Where the data of that fingerprint were last; empty if that is not known."""
    try:
        path = _note(fingerprint)
        stored = read_json(path, "delete it")
        require_fields(_NOTE, stored, path, "delete it")
        return {name: stored[name] for name in _PLACES if name in stored}
    except OSError:
        return {}
    except LqmError as error:
        warn(str(error))
        return {}


def without_places(origin: Words | None) -> dict[str, Any] | None:
    """An origin as others may see it: names and paths as `shown_path` has them, and no folder of data.

    Example:
        >>> without_places({"source": "/home/ada/cora.npz", "split": "random"})
        {'source': 'cora.npz', 'split': 'random'}
        >>> without_places({"source": "mnist", "data_dir": "/data"})
        {'source': 'mnist'}
    """
    if origin is None:
        return None
    shown = {name: value for name, value in origin.items() if name != "data_dir"}
    if isinstance(source := origin.get("source"), str):
        shown["source"] = shown_path(source) if _is_place(source) else source
    return shown


def _is_place(word: object) -> bool:
    return isinstance(word, str) and Path(word).is_absolute()


def _note(fingerprint: str) -> Path:
    key = hashlib.sha256(fingerprint.encode(errors="replace")).hexdigest()
    return cache_folder() / "places" / f"{key}.json"
