"""A folder of files as tensors of bytes, to take it to a worker and its content back."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from lqm.utils.errors import ArtifactError
from lqm.utils.files import is_temporary, write_atomically


def packed_files(folder: Path) -> dict[str, Tensor]:
    """The files below a folder by their names in it, but for locks and what was not finished."""
    if not folder.is_dir():
        return {}
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.suffix == ".lock" or path.name == ".lock":
            continue
        if not is_temporary(path) and (content := path.read_bytes()):
            found[path.relative_to(folder).as_posix()] = torch.frombuffer(
                bytearray(content), dtype=torch.uint8
            )
    return found


def unpack_files(files: Mapping[str, Tensor], folder: Path) -> None:
    """Write such files into a folder, each whole or not at all, and remove what is there beside them.

    Raises:
        ArtifactError: when a name leads out of the folder, or a file can't be written.
    """
    for name in files:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise ArtifactError(f"a worker has sent a file called {name!r}; a run has no such file")
    for path in sorted(folder.rglob("*"), reverse=True) if folder.is_dir() else ():
        if path.is_file() and path.name != ".lock" and path.relative_to(folder).as_posix() not in files:
            path.unlink()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, content.numpy().tobytes())
