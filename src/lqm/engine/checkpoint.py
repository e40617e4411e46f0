"""Checkpoints: tensors of one step, in a file whose name carries the hash of its content.

The content says of which run and of which step it is, so that no other is taken for it.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from lqm.utils.binding import as_stored, belonging, belongs
from lqm.utils.errors import ArtifactError
from lqm.utils.files import read_whole, short_hash, write_atomically
from lqm.utils.log import warn as warn_user

_KEPT = 2
_NAME = re.compile(r"step-(\d{9,18})\.([0-9a-f]{32})\.safetensors")


class Checkpoint(NamedTuple):
    """The state of a method after `step` steps."""

    step: int
    state: dict[str, Tensor]
    path: Path


def save_checkpoint(folder: Path, step: int, state: dict[str, Tensor], run: str | None = None) -> Path:
    """Save a state of a run, then drop all but the newest two."""
    content = save(as_stored(state), belonging(run, [step]))
    path = folder / f"step-{step:09d}.{short_hash(content)}.safetensors"
    write_atomically(path, content)
    for _, old in _newest_first(folder)[_KEPT:]:
        try:
            old.unlink(missing_ok=True)
        except OSError as error:
            warn_user(f"{old} is no longer needed, but can't be removed ({error.strerror})")
    return path


def latest_checkpoint(folder: Path, warn: Callable[[str], None], run: str | None = None) -> Checkpoint | None:
    """The newest checkpoint that is intact and of this run; any other is named and set aside.

    Raises:
        ArtifactError: when one can't be read.
    """
    for step, path in _newest_first(folder):
        try:
            content = read_whole(path)
            if short_hash(content) != path.name.split(".")[1]:
                warn(f"{path} is damaged (its hash is not the one in its name) and was set aside")
                path.rename(path.with_suffix(".damaged"))
                continue
            if not belongs(_metadata(content), run, [step]):
                warn(f"{path} is of another run or another step, and was set aside")
                path.rename(path.with_suffix(".foreign"))
                continue
            return Checkpoint(step, load(content), path)
        except OSError as error:
            raise ArtifactError(f"{path} can't be read ({error.strerror}); look at the disk") from error
        except (SafetensorError, ValueError, RecursionError, AttributeError) as error:
            raise _unusable(path, error) from error
    return None


@contextmanager
def loading(checkpoint: Checkpoint) -> Iterator[None]:
    """Say of a state that can't be loaded inside the block which checkpoint has it."""
    try:
        yield
    except (KeyError, IndexError, ValueError, TypeError, RuntimeError, AttributeError) as error:
        raise _unusable(checkpoint.path, error) from error


def require_alike(state: dict[str, Tensor], fresh: dict[str, Tensor]) -> None:
    """Refuse a state in which a tensor has another shape or type than a fresh one has.

    Raises:
        ValueError: naming the tensor.
    """
    for name, tensor in state.items():
        if name in fresh and (tensor.shape, tensor.dtype) != (fresh[name].shape, fresh[name].dtype):
            wanted, found = (f"{part.dtype} {list(part.shape)}" for part in (fresh[name], tensor))
            raise ValueError(f"'{name}' is {found}, not {wanted}")


def _unusable(path: Path, error: Exception) -> ArtifactError:
    what = f"there is no {error} in it" if isinstance(error, KeyError) else " ".join(str(error).split())[:200]
    return ArtifactError(
        f"{path} does not hold a state of this run ({what}); remove it to go on from an earlier one"
    )


def _metadata(content: bytes) -> dict[str, str]:
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    found: dict[str, str] = header.get("__metadata__") or {}
    return found


def newest_step(folder: Path) -> int:
    """How many steps the newest checkpoint has, by its name; 0 if there is none."""
    return next((step for step, _ in _newest_first(folder)), 0)


def _newest_first(folder: Path) -> list[tuple[int, Path]]:
    found = ((_NAME.fullmatch(path.name), path) for path in folder.glob("step-*.*.safetensors"))
    return sorted(((int(match[1]), path) for match, path in found if match), reverse=True)
