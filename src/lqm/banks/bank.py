"""A bank: numbered shards in a folder, memory-mapped, each with the hash of its content in its name."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lqm.engine import Config, RunFolder
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash, write_atomically
from lqm.utils.log import warn

# A shard of a sketch has one number, one of experts two: network and snapshot.
Key = tuple[int, ...]


@dataclass(frozen=True)
class BankKind:
    """What tells one kind of bank from another.

    Attributes:
        name: what it is called in sentences.
        command: what makes it.
        shard: what a shard is called in file names.
        entry: the name under which `run.json` holds its configuration.
    """

    name: str
    command: str
    shard: str
    entry: str

    def paths(self, folder: Path) -> dict[Key, Path]:
        """The shards in a folder, by their numbers."""
        pattern = re.compile(rf"{self.shard}((?:-\d{{6}})+)\.[0-9a-f]{{32}}\.safetensors")
        found = ((pattern.fullmatch(file.name), file) for file in sorted(folder.iterdir()))
        return {tuple(map(int, match[1][1:].split("-"))): file for match, file in found if match}


class Shard:
    """One entry of a bank, read from its file as it is needed."""

    def __init__(self, path: Path, remedy: str, *, check: bool = True) -> None:
        if check and not is_intact(path, remedy):
            raise ArtifactError(f"{path} is damaged: its hash is not the one in its name; {remedy}")
        try:
            self._file = safe_open(path, framework="pt")
        except (OSError, SafetensorError) as error:
            raise ArtifactError(f"{path} can't be read ({error}); {remedy}") from error
        self.names: tuple[str, ...] = tuple(self._file.keys())  # type: ignore[no-untyped-call]

    def __getitem__(self, name: str) -> Tensor:
        tensor: Tensor = self._file.get_tensor(name)  # type: ignore[no-untyped-call]
        return tensor

    def below(self, prefix: str) -> dict[str, Tensor]:
        """The tensors called `prefix.name`, by their name."""
        start = f"{prefix}."
        return {name.removeprefix(start): self[name] for name in self.names if name.startswith(start)}

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return {name: self[name] for name in self.names}


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
        self.path, self.kind = Path(path), kind
        self.config = _read_config(self.path, kind)
        self.paths = kind.paths(self.path)
        self._checked: set[Key] = set()

    def shard(self, *key: int) -> Shard:
        """The shard of that number."""
        shard = Shard(self.paths[key], self.remedy, check=key not in self._checked)
        self._checked.add(key)
        return shard

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
        """The shards that are there; a damaged one is set aside, to be made again."""
        found = self._kind.paths(self.path)
        for key, path in list(found.items()):
            if not is_intact(path, "look at the disk"):
                warn(f"{path} is damaged (its hash is not the one in its name) and is made again")
                path.rename(path.with_suffix(".damaged"))
                del found[key]
        return set(found)

    def bytes_of(self, shards: int) -> int:
        """About the room on the disk of so many shards, by those that are there."""
        sizes = [path.stat().st_size for path in self._kind.paths(self.path).values()]
        return round(shards * sum(sizes) / max(1, len(sizes)))

    def read(self, *key: int) -> Shard:
        """A shard that is there."""
        return Shard(self._kind.paths(self.path)[key], "make it again")

    def write(self, key: Key, tensors: Mapping[str, Tensor]) -> None:
        """Add a shard."""
        content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
        number = "-".join(f"{part:06d}" for part in key)
        name = f"{self._kind.shard}-{number}.{short_hash(content)}.safetensors"
        write_atomically(self.path / name, content)


def is_intact(path: Path, remedy: str) -> bool:
    """Whether a file has the content that its name promises."""
    try:
        return short_hash(path.read_bytes()) == path.name.split(".")[-2]
    except OSError as error:
        raise ArtifactError(f"{path} can't be read ({error.strerror}); {remedy}") from error


def _read_config(path: Path, kind: BankKind) -> Config:
    right = f"name a folder that `{kind.command}` has made"
    try:
        config: Config = json.loads((path / "run.json").read_bytes())["config"][kind.entry]
    except FileNotFoundError:
        raise ArtifactError(f"{path} does not hold {kind.name}; {right}") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(f"{path} holds something else than {kind.name}; {right}") from error
    return config
