"""One writer at a time in a folder, and no file left in it."""

import errno
import os
import threading
import time

import pytest

from lqm.utils import locks
from lqm.utils.errors import ArtifactError
from lqm.utils.locks import folder_lock


def count_together(folder, threads=6, rounds=10):
    """Read a number, wait and write it one larger: some get lost if two do it at once."""
    path = folder / "number"
    path.write_text("0")

    def add():
        for _ in range(rounds):
            with folder_lock(folder):
                number = int(path.read_text())
                time.sleep(0.0005)
                path.write_text(str(number + 1))

    running = [threading.Thread(target=add) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert int(path.read_text()) == threads * rounds
    assert os.listdir(folder) == ["number"]


def test_threads_take_turns(tmp_path):
    count_together(tmp_path)


def refuse_folders(monkeypatch, code):
    """As NFS does: a folder has no lock, a file has one."""
    flock = locks.fcntl.flock

    def refusing(descriptor, operation):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(code, os.strerror(code))
        flock(descriptor, operation)

    monkeypatch.setattr(locks.fcntl, "flock", refusing)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell folders from files")
def test_where_folders_have_no_lock_a_file_is_locked_and_removed(tmp_path, monkeypatch):
    refuse_folders(monkeypatch, errno.EBADF)
    count_together(tmp_path)


def test_a_file_system_without_locks_is_named_and_gone_on_with(tmp_path, monkeypatch, capsys):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    with folder_lock(tmp_path):
        pass
    assert f"{tmp_path} can't be locked" in capsys.readouterr().err
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".tmp")] == []


def test_a_lock_that_is_never_given_back_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_SECONDS", 0.05)
    with (
        folder_lock(tmp_path),
        pytest.raises(ArtifactError, match=f"{tmp_path} .*another process"),
        folder_lock(tmp_path),
    ):
        pass


def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_SECONDS", 0.05)
    read, write = os.pipe()
    with folder_lock(tmp_path):
        if not (child := os.fork()):
            os.read(read, 1)
            os._exit(0)
    try:
        with folder_lock(tmp_path):
            pass
    finally:
        os.write(write, b"x")
        os.waitpid(child, 0)
