"""Writing files so that a crash, a kill or a full disk never leaves a half-written one."""

import contextlib
import os
import tempfile
from pathlib import Path

from lqm.errors import ArtifactError


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, flush it to the disk, and rename it into place.

    Raises:
        ArtifactError: when the disk is full or the folder can't be written; what was there before stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
        _sync_folder(path.parent)
    except OSError as error:
        raise ArtifactError(
            f"{path} could not be written: {error.strerror or error}. "
            "What was saved before is intact; make room or choose another folder."
        ) from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself survive a power cut, where the system can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
