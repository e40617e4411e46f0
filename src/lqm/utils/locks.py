"""Locks that the system drops when their process dies: of files that are being written, and of folders."""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import Timeout

from lqm.utils.errors import ArtifactError
from lqm.utils.log import warn

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

# A change of a manifest takes a few milliseconds.
_SECONDS, _POLL = 120.0, 0.005
# Without locks, a file that nobody has written to for a day is one that a killed process left.
_STALE_SECONDS = 86_400.0
# Called like a temporary file, so that one which a killed process left is swept like one.
_LOCK_FILE = ".lock.tmp"


def hold(descriptor: int) -> bool:
    """Take the lock of an open file unless somebody has it; raises OSError where there are no locks."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def is_held(path: Path) -> bool:
    """Whether a process has the lock of a file just now; nothing there is changed, made or kept."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def remove_if_abandoned(path: Path) -> None:
    """Remove a file whose writer, who holds its lock until the end, is dead."""
    with contextlib.suppress(OSError):  # gone already, or somebody else's: there is nothing to do
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return
            try:
                abandoned = hold(descriptor)
            except OSError:
                abandoned = time.time() - found.st_mtime > _STALE_SECONDS
            if abandoned:
                path.unlink()
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def taking(folder: Path, use: str) -> Iterator[None]:
    """Say in one sentence why a folder can't be made, or why its `FileLock` can't be had.

    Args:
        folder: that is to be taken within the block.
        use: what for, as "a run".

    Raises:
        ArtifactError: with the sentence.
    """
    try:
        yield
    except Timeout:
        raise ArtifactError(
            f"{folder} is in use by another process; wait for it, or choose another folder"
        ) from None
    except OSError as error:
        raise ArtifactError(
            f"{folder} can't be used as a folder for {use} ({error.strerror}); choose another one"
        ) from error


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Let one writer at a time, of all threads and processes, change what is in a folder.

    The lock is that of the folder itself, so that no file is left in it; a file inside, which is removed
    afterwards, where a folder has none (NFS). A file system without locks is named, and gone on with.

    Raises:
        ArtifactError: when another writer keeps the lock for minutes.
    """
    held = None
    try:
        held = _wait_for(folder)
    except OSError as error:
        # Where nothing can be written, the write says so.
        if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR):
            warn(f"{folder} can't be locked ({error.strerror}); let one process at a time write to it")
    try:
        yield
    finally:
        if held:
            descriptor, path = held
            if path != folder:
                path.unlink(missing_ok=True)
            # A process that was forked meanwhile has the file open too.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _wait_for(folder: Path) -> tuple[int, Path]:
    """An open file whose lock is held, and its path: the folder, or a file in it."""
    deadline = time.monotonic() + _SECONDS
    path, flags = folder, os.O_RDONLY
    while True:
        try:
            descriptor = os.open(path, flags, 0o666)
            try:
                if hold(descriptor) and os.fstat(descriptor).st_nlink:
                    return descriptor, path
            except BaseException:
                os.close(descriptor)
                raise
        except OSError:
            if path != folder:
                raise
            path, flags = folder / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
            continue
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise ArtifactError(f"{folder} is being written by another process; try again when it has ended")
        time.sleep(_POLL)
