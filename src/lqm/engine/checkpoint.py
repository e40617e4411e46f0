"""Checkpoints: tensors of one step, in a file whose name carries the hash of its content."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from safetensors.torch import load, save
from torch import Tensor

from lqm.utils.files import short_hash, write_atomically

_KEPT = 2


class Checkpoint(NamedTuple):
    """The state of a method after `step` steps."""

    step: int
    state: dict[str, Tensor]
    path: Path


def save_checkpoint(folder: Path, step: int, state: dict[str, Tensor]) -> Path:
    """Save a state, then drop all but the newest two."""
    content = save({name: tensor.detach().cpu().contiguous() for name, tensor in state.items()})
    path = folder / f"step-{step:09d}.{short_hash(content)}.safetensors"
    write_atomically(path, content)
    for old in _newest_first(folder)[_KEPT:]:
        old.unlink(missing_ok=True)
    return path


def latest_checkpoint(folder: Path, warn: Callable[[str], None]) -> Checkpoint | None:
    """The newest checkpoint that is intact; a damaged one is named and set aside."""
    for path in _newest_first(folder):
        content = path.read_bytes()
        step, expected, _ = path.name.removeprefix("step-").split(".")
        if short_hash(content) == expected:
            return Checkpoint(int(step), load(content), path)
        warn(f"{path} is damaged (its hash is not the one in its name) and was set aside")
        path.rename(path.with_suffix(".damaged"))
    return None


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("step-*.*.safetensors"), reverse=True)
