"""A sketch as a folder: one file an encoder, memory-mapped, each with the hash of its content in its name."""

import hashlib
import json
import re
from pathlib import Path
from types import TracebackType
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from lqm.engine import Config, RunFolder
from lqm.engine.progress import warn
from lqm.utils.errors import ArtifactError
from lqm.utils.files import short_hash, write_atomically

_SHARD = re.compile(r"encoder-(\d{6})\.([0-9a-f]{32})\.safetensors")


class Shard:
    """What one encoder left behind, read from its file as it is needed."""

    def __init__(self, path: Path, *, check: bool = True) -> None:
        if check and not is_intact(path):
            raise ArtifactError(
                f"{path} is damaged: its hash is not the one in its name; let `lqm sketch` make it again"
            )
        try:
            self._file = safe_open(path, framework="pt")
        except (OSError, SafetensorError) as error:
            raise ArtifactError(f"{path} can't be read ({error}); let `lqm sketch` make it again") from error
        self.names: tuple[str, ...] = tuple(self._file.keys())  # type: ignore[no-untyped-call]

    def __getitem__(self, name: str) -> Tensor:
        tensor: Tensor = self._file.get_tensor(name)  # type: ignore[no-untyped-call]
        return tensor

    def below(self, prefix: str) -> dict[str, Tensor]:
        """The tensors called `prefix.name`, by their name."""
        return {
            name.removeprefix(f"{prefix}."): self[name]
            for name in self.names
            if name.startswith(f"{prefix}.")
        }


class Sketch:
    """The finished encoders of a folder.

    Attributes:
        config: what the sketch was made of and how.
        encoders: how many are used: all that there are, from the first up to a missing one, or fewer.

    Args:
        path: the folder.
        encoders: how many to use at most.

    Raises:
        ArtifactError: when the folder holds no sketch, or one without an encoder.
    """

    def __init__(self, path: str | Path, encoders: int | None = None) -> None:
        self.path = Path(path)
        self.config = _read_config(self.path)
        self._checked: set[int] = set()
        self._paths = _shard_paths(self.path)
        there = next(n for n in range(len(self._paths) + 1) if n not in self._paths)
        self.encoders = there if encoders is None else min(there, encoders)
        if not self.encoders:
            raise ArtifactError(
                f"the sketch in {self.path} has no encoder yet; let `lqm sketch` go on with it"
            )
        for number in range(self.encoders):
            # A file that was cut short is found before the run begins, any other damage when it is used.
            Shard(self._paths[number], check=False)

    def __getitem__(self, number: int) -> Shard:
        """Encoder number n; its file is checked when it is first used."""
        shard = Shard(self._paths[number], check=number not in self._checked)
        self._checked.add(number)
        return shard

    @property
    def identity(self) -> dict[str, Any]:
        """What a condensation by this sketch depends on; the names of its files have their content's hash."""
        names = "\n".join(self._paths[number].name for number in range(self.encoders))
        return {"sha256": hashlib.sha256(names.encode()).hexdigest(), "encoders": self.encoders}


class SketchWriter:
    """A sketch in the making, which one process at a time may write to; use it in a `with` block.

    Args:
        path: the folder; what is finished in it stays.
        config: what the sketch is made of and how; a folder with another configuration is refused.
        environment: what the last bits depend on; a difference is said.
    """

    def __init__(self, path: Path, config: Config, environment: dict[str, Any]) -> None:
        self._folder = RunFolder(path, {"sketched": config}, environment)
        self.path = path

    def __enter__(self) -> "SketchWriter":
        self._folder.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.__exit__(kind, error, trace)

    def finished(self) -> set[int]:
        """The encoders that are there; a damaged one is set aside, to be made again."""
        found = _shard_paths(self.path)
        for number, path in list(found.items()):
            if not is_intact(path):
                warn(f"{path} is damaged (its hash is not the one in its name) and is made again")
                path.rename(path.with_suffix(".damaged"))
                del found[number]
        return set(found)

    def read(self, number: int) -> Shard:
        """An encoder that is there."""
        return Shard(_shard_paths(self.path)[number])

    def write(self, number: int, tensors: dict[str, Tensor]) -> None:
        """Add an encoder."""
        content = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
        write_atomically(self.path / f"encoder-{number:06d}.{short_hash(content)}.safetensors", content)


def is_intact(path: Path) -> bool:
    """Whether a file has the content that its name promises."""
    match = _SHARD.fullmatch(path.name)
    try:
        return match is not None and short_hash(path.read_bytes()) == match[2]
    except OSError as error:
        raise ArtifactError(
            f"{path} can't be read ({error.strerror}); let `lqm sketch` make it again"
        ) from error


def _read_config(path: Path) -> Config:
    try:
        config: Config = json.loads((path / "run.json").read_bytes())["config"]["sketched"]
    except FileNotFoundError:
        raise ArtifactError(f"{path} holds no sketch; name a folder that `lqm sketch` has made") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ArtifactError(
            f"{path} holds something else than a sketch; name a folder that `lqm sketch` has made"
        ) from error
    return config


def _shard_paths(path: Path) -> dict[int, Path]:
    found = ((_SHARD.fullmatch(file.name), file) for file in sorted(path.iterdir()))
    return {int(match[1]): file for match, file in found if match}
