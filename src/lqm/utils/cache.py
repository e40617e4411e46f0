"""Where things are kept that took long to make and can be made again."""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from lqm.utils.cache_files import make_room, mark_used
from lqm.utils.errors import ArtifactError
from lqm.utils.log import warn

T = TypeVar("T")


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
    digest = hashlib.sha256(described.encode())
    for path in files:
        digest.update(f"\0{path.relative_to(root or path.parent).as_posix()}\0{_file_hash(path)}".encode())
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

    The file is `<what>/<key>.<hash of its content>.safetensors`, with `key` a hash of all that decides it.
    """
    try:
        folder = cache_folder() / what
    except ArtifactError as error:
        warn(f"the {what} are not kept: {error}")
        return make()
    for path in folder.glob(f"{key}.*.safetensors"):
        if packed := _load(path):
            mark_used(path)
            return unpack(packed)
        warn(f"{path} was damaged, and is made again")
        with contextlib.suppress(OSError):
            path.unlink()
    made = make()
    try:
        _save(folder, key, pack(made))
        make_room(folder.parent)
    except (OSError, SafetensorError) as error:
        problem = error.strerror if isinstance(error, OSError) else error
        warn(f"the {what} are not kept: {folder} can't be written ({problem})")
    return made


def _save(folder: Path, key: str, packed: Packed) -> None:
    """Write tensor by tensor, never a copy of them all; the name is known once all is written."""
    temporary = folder / f".{key}.{os.getpid()}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        save_file(
            packed.tensors, temporary, {name: json.dumps(value) for name, value in packed.notes.items()}
        )
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, folder / f"{key}.{_file_hash(temporary)[:32]}.safetensors")
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _load(path: Path) -> Packed | None:
    """What a file has, unless it is not what its name says; its tensors stay in the file's pages."""
    try:
        if _file_hash(path)[:32] != path.name.split(".")[1]:
            return None
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no dictionary)
            return Packed(tensors, {name: json.loads(text) for name, text in file.metadata().items()})
    except (OSError, SafetensorError):
        return None


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
