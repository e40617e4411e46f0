"""Writing files so that a crash, a kill or a full disk never leaves a half-written one."""

import contextlib
import hashlib
import os
from pathlib import Path

from lqm.utils.errors import ArtifactError


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, flush it to the disk, and rename it into place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise ArtifactError(
            f"{path} could not be written: {error.strerror or error}. "
            "What was saved before is intact; make room or choose another folder."
        ) from error


def short_hash(content: bytes) -> str:
    """What the name of a file carries of its content: the first half of the SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]


def is_temporary(path: Path) -> bool:
    """Whether a file is what a killed process left of a write."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def remove_temporaries(folder: Path) -> None:
    """Clear away what killed processes left."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
