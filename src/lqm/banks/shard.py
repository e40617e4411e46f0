"""A shard of a bank: tensors in a file that has the hash of its content in its name.

The content says of which bank it is and which number it has, so that no other is taken for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from lqm.utils.binding import belongs
from lqm.utils.errors import ArtifactError
from lqm.utils.files import file_hash
from lqm.utils.memory import is_out_of_memory
from lqm.utils.sentences import reason
from lqm.utils.tensors import TensorFile

# A shard of a sketch has one number, one of experts two: network and snapshot.
Key = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where a shard belongs: the id of its bank, None of those of earlier versions, and its number."""

    bank: str | None
    key: Key


class Shard:
    """One entry of a bank, read from its file as it is needed.

    Args:
        path: of the file.
        remedy: what to do if it can't be used.
        place: where it must belong; not asked if it is None.
        check: whether to compare its hash with the one in its name.

    Raises:
        ArtifactError: when it is damaged, or belongs elsewhere.
    """

    def __init__(self, path: Path, remedy: str, place: Place | None = None, *, check: bool = True) -> None:
        if check and not is_intact(path, remedy):
            raise ArtifactError(f"{path} is damaged: its hash is not the one in its name; {remedy}")
        self._path, self._remedy = path, remedy
        self._file = TensorFile(path, remedy)
        self.names = self._file.names
        if place and not belongs(self._file.metadata, place.bank, place.key):
            raise ArtifactError(f"{path} is of another bank or has another number there; {remedy}")

    def __getitem__(self, name: str) -> Tensor:
        return self._file[name]

    def below(self, prefix: str) -> dict[str, Tensor]:
        """The tensors called `prefix.name`, by their name."""
        start = f"{prefix}."
        return {name.removeprefix(start): self[name] for name in self.names if name.startswith(start)}

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Say of tensors that can't be used inside the block which file has them.

        Raises:
            ArtifactError: naming it.
        """
        try:
            yield
        except (LookupError, ValueError, TypeError, RuntimeError, ArithmeticError) as error:
            if is_out_of_memory(error):
                raise
            raise ArtifactError(
                f"{self._path} does not hold what it should ({reason(error)[:200]}); {self._remedy}"
            ) from error

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        return self._file.tensors()


def is_intact(path: Path, remedy: str) -> bool:
    """Whether a file has the content that its name promises."""
    try:
        return file_hash(path).startswith(path.name.split(".")[-2])
    except OSError as error:
        raise ArtifactError(f"{path} can't be read ({error.strerror}); {remedy}") from error
