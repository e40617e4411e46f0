"""Where things are kept that took long to make and can be made again."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from torch import Tensor

from lqm.utils.cache_files import make_room, mark_used
from lqm.utils.errors import ArtifactError
from lqm.utils.files import file_hash, remove_temporaries, temporary_file
from lqm.utils.log import warn
from lqm.utils.tensors import TensorFile, write_tensors

T = TypeVar("T")

# The one entry of a file's metadata: the key that it was kept under, and the notes.
_ENTRY = "lqm"
_NAME = re.compile(r"[0-9a-f]+\.([0-9a-f]{32})\.safetensors")


class Packed(NamedTuple):
    """A thing as a file has it: tensors, and notes of values that JSON knows."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]


def cache_folder() -> Path:
    """The folder LQM_CACHE, else `lqm` in XDG_CACHE_HOME, else `.cache/lqm` in the home folder."""
    if chosen := os.environ.get("LQM_CACHE"):
        return Path(chosen).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "lqm"
    try:
        return Path.home() / ".cache" / "lqm"
    except RuntimeError as error:
        raise ArtifactError("there is no home folder for the cache; set LQM_CACHE to a folder") from error


def content_key(described: str, root: Path | None = None, files: Iterable[Path] = ()) -> str:
    """A hash of a description (options, class names) and of the names below `root` and bytes of files."""
    digest = hashlib.sha256(described.encode(errors="surrogatepass"))
    for path in files:
        name = path.relative_to(root or path.parent).as_posix()
        digest.update(f"\0{name}\0{file_hash(path)}".encode(errors="surrogatepass"))
    return digest.hexdigest()[:32]


def kept(
    what: str,
    key: str,
    make: Callable[[], T],
    *,
    pack: Callable[[T], Packed],
    unpack: Callable[[Packed], T],
) -> T:
    """What `make` returns, from the cache if it is there; a cache that can't be used is done without.

    The file is `<what>/<key>.<hash of its content>.safetensors`, with `key` a hash of all that decides it;
    its content names the key too. What is read from it is in memory, whatever happens to the file.
    """
    try:
        folder = cache_folder() / what
    except ArtifactError as error:
        warn(f"the {what} are not kept: {error}")
        return make()
    for path in folder.glob(f"{key}.*.safetensors"):
        try:
            found = unpack(_load(path, key))
            mark_used(path)
            return found
        except ArtifactError as error:
            warn(f"{error}, and is made again")
        except (KeyError, IndexError, ValueError, TypeError, RuntimeError, AssertionError) as error:
            warn(f"{path} can't be used ({error}), and is made again")
        with contextlib.suppress(OSError):
            path.unlink()
    made = make()
    try:
        _save(folder, key, pack(made))
        make_room(folder.parent)
    except OSError as error:
        warn(f"the {what} are not kept: {folder} can't be written ({error.strerror})")
    return made


def _save(folder: Path, key: str, packed: Packed) -> None:
    """Write tensor by tensor, never a copy of them all; the name is known once all is written."""
    folder.mkdir(parents=True, exist_ok=True)
    remove_temporaries(folder)
    with temporary_file(folder, key) as (temporary, file):
        write_tensors(file, packed.tensors, {_ENTRY: json.dumps({"key": key, "notes": packed.notes})})
        file.flush()
        os.fsync(file.fileno())
        os.replace(temporary, folder / f"{key}.{file_hash(temporary)[:32]}.safetensors")


def _load(path: Path, key: str) -> Packed:
    """What a file has; ArtifactError if it is damaged, or was kept under another key."""
    file = TensorFile(path, "it is damaged")
    named = _NAME.fullmatch(path.name)
    if not named or not file.sha256().startswith(named[1]):
        raise ArtifactError(f"{path} was damaged")
    try:
        known = json.loads(file.metadata.get(_ENTRY, "{}"))
        if known.get("key") == key:
            return Packed(file.tensors(), known["notes"])
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise ArtifactError(f"{path} was damaged") from error
    raise ArtifactError(f"{path} was kept for something else, or by an earlier version")
