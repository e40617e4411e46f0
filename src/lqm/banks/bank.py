"""A bank: numbered shards in a folder, made once and used by many condensations."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from safetensors.torch import save
from torch import Tensor

from lqm.banks.shard import Key, Place, Shard, is_intact
from lqm.engine import Config, RunFolder
from lqm.engine.run_record import read_record, recorded_id
from lqm.utils.binding import as_stored, belonging
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash, write_atomically
from lqm.utils.log import warn
from lqm.utils.paths import as_path


@dataclass(frozen=True)
class BankKind:
    """What tells one kind of bank from another.

    Attributes:
        name: what it is called in sentences.
        command: what makes it.
        shard: what a shard is called in file names.
        entry: the name under which `run.json` holds its configuration.
        numbers: how many a shard has; of a snapshot the network's and its own.
    """

    name: str
    command: str
    shard: str
    entry: str
    numbers: int = 1

    def file_name(self, key: Key, content_hash: str) -> str:
        """What the file of a shard is called."""
        number = "-".join(f"{part:06d}" for part in key)
        return f"{self.shard}-{number}.{content_hash}.safetensors"

    def paths(self, folder: Path) -> dict[Key, Path]:
        """The shards in a folder, by their numbers."""
        pattern = re.compile(rf"{self.shard}((?:-\d{{6,9}}){{{self.numbers}}})\.[0-9a-f]{{32}}\.safetensors")
        found = ((pattern.fullmatch(file.name), file) for file in sorted(folder.iterdir()))
        return {tuple(map(int, match[1][1:].split("-"))): file for match, file in found if match}


class Bank:
    """The shards of a folder; each file is checked when it is first used.

    Attributes:
        config: what the bank was made of and how.

    Args:
        path: the folder.
        kind: what kind of bank it should hold.

    Raises:
        ArtifactError: when the folder holds no such bank.
    """

    def __init__(self, path: str | Path, kind: BankKind) -> None:
        self.path, self.kind = as_path(path, "path"), kind
        self.config = _read_config(self.path, kind)
        self._id = recorded_id(self.path)
        self.paths = kind.paths(self.path)
        self._checked: set[Key] = set()

    def shard(self, *key: int, check: bool = True) -> Shard:
        """The shard of that number; its hash is looked at when it is first used, unless `check` is off."""
        place = Place(self._id, key)
        if not check:
            return Shard(self.paths[key], self.remedy, place, check=False)
        shard = Shard(self.paths[key], self.remedy, place, check=key not in self._checked)
        self._checked.add(key)
        return shard

    def require(self, key: Key) -> None:
        """Refuse to do without a shard that is missing though a later one is there.

        Raises:
            ArtifactError: with its name, and what to do.
        """
        if key not in self.paths:
            raise ArtifactError(
                f"{self.path / self.kind.file_name(key, '*')} is missing, though later ones are there; "
                f"let `{self.kind.command}` go on with it, which makes what is missing and nothing else"
            )

    def identity_of(self, keys: Sequence[Key]) -> str:
        """SHA-256 of some shards: their names have their content's hash."""
        names = "\n".join(self.paths[key].name for key in keys)
        return hashlib.sha256(names.encode()).hexdigest()

    @property
    def remedy(self) -> str:
        """What to do about a damaged file."""
        return f"let `{self.kind.command}` make it again"


class BankWriter:
    """A bank in the making, which one process at a time may write to; use it in a `with` block.

    Args:
        path: the folder; what is finished in it stays.
        kind: what kind of bank it is.
        config: what the bank is made of and how; a folder with another configuration is refused.
        environment: what the last bits depend on; a warning names a difference.
    """

    def __init__(
        self, path: Path, kind: BankKind, config: Config, environment: Mapping[str, str | int]
    ) -> None:
        self._folder = RunFolder(path, {kind.entry: config}, environment)
        self.path, self._kind = path, kind

    def __enter__(self) -> "BankWriter":
        self._folder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.__exit__(kind, error, trace)

    def finished(self) -> set[Key]:
        """The shards that are there; a damaged one, or one of another bank, is set aside and made again."""
        found = self._kind.paths(self.path)
        for key, path in list(found.items()):
            if not is_intact(path, "look at the disk"):
                warn(f"{path} is damaged (its hash is not the one in its name) and is made again")
                _set_aside(path, ".damaged")
                del found[key]
                continue
            try:
                Shard(path, "it is made again", Place(self._folder.id, key), check=False)
            except ArtifactError as error:
                warn(str(error))
                _set_aside(path, ".foreign")
                del found[key]
        return set(found)

    def bytes_of(self, shards: int) -> int:
        """About the room on the disk of so many shards, by those that are there."""
        sizes = [path.stat().st_size for path in self._kind.paths(self.path).values()]
        return round(shards * sum(sizes) / max(1, len(sizes)))

    def read(self, *key: int) -> Shard:
        """A shard that is there."""
        return Shard(self._kind.paths(self.path)[key], "make it again", Place(self._folder.id, key))

    def write(self, key: Key, tensors: Mapping[str, Tensor]) -> None:
        """Add a shard."""
        content = save(as_stored(tensors), belonging(self._folder.id, key))
        write_atomically(self.path / self._kind.file_name(key, short_hash(content)), content)


class _BankConfig(dict[str, Any]):
    """A configuration; a part that it lacks is a sentence."""

    def __init__(self, path: Path, config: Config) -> None:
        super().__init__(config)
        self._path = path

    def __missing__(self, name: str) -> NoReturn:
        raise ArtifactError(f"{self._path / 'run.json'} has no '{name}'; restore it from a copy")


def _set_aside(path: Path, suffix: str) -> None:
    try:
        path.rename(path.with_suffix(suffix))
    except OSError as error:
        raise ArtifactError(f"{path} can't be set aside ({error.strerror}); remove it") from error


def _read_config(path: Path, kind: BankKind) -> Config:
    right = f"name a folder that `{kind.command}` has made"
    try:
        config: Config = read_record(path, right)["config"]
    except (FileNotFoundError, NotADirectoryError):
        raise ArtifactError(f"{path} does not hold {kind.name}; {right}") from None
    if kind.entry not in config:
        raise ArtifactError(f"{path} holds something else than {kind.name}; {right}")
    return _BankConfig(path, config[kind.entry])
