"""Where things are kept that took long to make and can be made again."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from torch import Tensor

from lqm.utils.cache_files import make_room, mark_used
from lqm.utils.errors import ArtifactError
from lqm.utils.files import file_hash, remove_temporaries, temporary_file
from lqm.utils.limits import require_memory, stays_in_file
from lqm.utils.log import warn
from lqm.utils.stored_arrays import StoredArray
from lqm.utils.tensors import TensorFile, write_tensors

T = TypeVar("T")

# The one entry of a file's metadata: the key that it was kept under, and the notes.
_ENTRY = "lqm"
_NAME = re.compile(r"[0-9a-f]+\.([0-9a-f]{32})\.safetensors")
# Large files whose hash was right when this process first opened them: name, number and size.
_checked: set[tuple[str, int, int]] = set()


class Packed(NamedTuple):
    """A thing as a file has it: tensors, notes of values that JSON knows, and tensors that stay there."""

    tensors: dict[str, Tensor]
    notes: dict[str, Any]
    stored: Mapping[str, StoredArray] = {}


@dataclass(frozen=True)
class Draft:
    """A file of the cache while it is written; see `drafted`."""

    key: str
    temporary: Path
    file: BinaryIO

    def metadata(self, notes: dict[str, Any]) -> dict[str, str]:
        """What the header is to say of it."""
        return {_ENTRY: json.dumps({"key": self.key, "notes": notes})}

    def keep(self) -> Path:
        """Flush the file to the disk, and give it the name by which it is found."""
        self.file.flush()
        os.fsync(self.file.fileno())
        name = f"{self.key}.{file_hash(self.temporary)[:32]}.safetensors"
        path = self.temporary.with_name(name)
        os.replace(self.temporary, path)
        status = path.stat()
        _checked.add((name, status.st_ino, status.st_size))
        make_room(path.parent.parent)
        return path


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
    pack: Callable[[T], Packed | None],
    unpack: Callable[[Packed], T],
    lazily: Collection[str] = (),
) -> T:
    """What `make` returns, from the cache if it is there; a cache that can't be used is done without.

    The file is `<what>/<key>.<hash of its content>.safetensors`, with `key` a hash of all that decides it;
    its content names the key too. What is read from it is in memory, whatever happens to the file, but for
    tensors that are named in `lazily`: these stay in a file that is too large for the memory.

    Args:
        what: the kind of thing, which is the name of its folder.
        key: a hash of all that decides it.
        make: makes it.
        pack: what a file is to have of it; None if `make` has kept it already, by `drafted`.
        unpack: the reverse.
        lazily: names of tensors that `unpack` can take as `StoredArray`.
    """
    try:
        folder = cache_folder() / what
    except ArtifactError as error:
        warn(f"the {what} are not kept: {error}")
        return make()
    for path in folder.glob(f"{key}.*.safetensors"):
        try:
            found = unpack(load_kept(path, key, lazily))
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
        if packed := pack(made):
            with drafted(what, key) as draft:
                write_tensors(draft.file, packed.tensors, draft.metadata(packed.notes))
                draft.keep()
    except OSError as error:
        warn(f"the {what} are not kept: {folder} can't be written ({error.strerror})")
    return made


@contextlib.contextmanager
def drafted(what: str, key: str) -> Iterator[Draft]:
    """A new file of the cache, which is gone at the end unless it was kept; OSError if there can be none."""
    folder = cache_folder() / what
    folder.mkdir(parents=True, exist_ok=True)
    remove_temporaries(folder)
    with temporary_file(folder, key) as (temporary, file):
        yield Draft(key, temporary, file)


def load_kept(path: Path, key: str, lazily: Collection[str] = ()) -> Packed:
    """What a file has; ArtifactError if it is damaged, or was kept under another key."""
    file = TensorFile(path, "it is damaged")
    stays = [name for name in lazily if name in file.names] if stays_in_file(file.size) else []
    named, status = _NAME.fullmatch(path.name), path.stat()
    known = (path.name, status.st_ino, status.st_size)
    if not (stays and known in _checked):
        if not named or not file.sha256().startswith(named[1]):
            raise ArtifactError(f"{path} was damaged")
        _checked.add(known)
    try:
        entry = json.loads(file.metadata.get(_ENTRY, "{}"))
        if entry.get("key") == key:
            if not stays:
                require_memory(file.size, str(path))
            tensors = {name: file[name] for name in file.names if name not in stays}
            return Packed(tensors, entry["notes"], {name: file.stored(name) for name in stays})
    except (ValueError, KeyError, AttributeError, RecursionError) as error:
        raise ArtifactError(f"{path} was damaged") from error
    raise ArtifactError(f"{path} was kept for something else, or by an earlier version")
