import errno
import os
import resource
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lqm.utils import locks
from lqm.utils.errors import ArtifactError
from lqm.utils.files import read_whole, remove_temporaries, temporary_file, write_atomically
from lqm.utils.limits import limited_to


def test_replaces_a_file_and_leaves_nothing_else(tmp_path):
    for content in (b"one", b"two"):
        write_atomically(tmp_path / "deep" / "file", content)
    assert (tmp_path / "deep" / "file").read_bytes() == b"two"
    assert os.listdir(tmp_path / "deep") == ["file"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_and_no_remains(tmp_path, monkeypatch, call):
    path = tmp_path / "file"
    write_atomically(path, b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(ArtifactError, match=f"{path} .*No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_is_a_file_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ArtifactError, match=f"{tmp_path / 'file' / 'below'}"):
        write_atomically(tmp_path / "file" / "below", b"x")


def test_threads_that_write_one_file_neither_tear_it_nor_fail(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([number]) * (1000 * number) for number in range(1, 9)]

    def write(content):
        for _ in range(20):
            write_atomically(path, content)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, contents))
    assert path.read_bytes() in contents
    assert os.listdir(tmp_path) == ["file"]


def test_writers_with_the_same_process_number_have_names_of_their_own(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getpid", lambda: 1)
    with temporary_file(tmp_path, "file") as (one, _), temporary_file(tmp_path, "file") as (other, _):
        assert one != other
    assert not os.listdir(tmp_path)


def test_a_long_name_is_no_hindrance(tmp_path):
    path = tmp_path / ("ä" * 127)
    write_atomically(path, b"x")
    assert path.read_bytes() == b"x"


def killed_while_it_writes(folder):
    """What a process leaves that dies with half a file written."""
    if not (child := os.fork()):
        with temporary_file(folder, "file") as (_, file):
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_what_killed_writers_left_is_swept_and_what_is_being_written_stays(tmp_path):
    killed_while_it_writes(tmp_path)
    (tmp_path / ".file.17.tmp").write_bytes(b"left by an earlier version")
    assert len(os.listdir(tmp_path)) == 2
    with temporary_file(tmp_path, "file") as (live, file):
        file.write(b"whole")
        file.flush()
        remove_temporaries(tmp_path)
        assert os.listdir(tmp_path) == [live.name]
        os.replace(live, tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_sweeping_all_the_time_takes_nothing_from_writers(tmp_path):
    done = threading.Event()

    def sweep():
        while not done.is_set():
            remove_temporaries(tmp_path)

    sweeper = threading.Thread(target=sweep)
    sweeper.start()
    try:
        for number in range(60):
            write_atomically(tmp_path / "file", b"%d" % number)
    finally:
        done.set()
        sweeper.join()
    assert os.listdir(tmp_path) == ["file"]


def test_without_locks_the_age_tells_what_was_left(tmp_path, monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", none)
    old, new = tmp_path / ".old.1.tmp", tmp_path / ".new.2.tmp"
    for path in (old, new):
        path.write_bytes(b"x")
    os.utime(old, (time.time() - 10**6,) * 2)
    remove_temporaries(tmp_path)
    assert os.listdir(tmp_path) == [new.name]
    write_atomically(tmp_path / "file", b"x")


def test_a_disk_that_fails_in_the_middle_of_a_file_leaves_the_old_one(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
    try:
        with pytest.raises(ArtifactError, match=f"{path} could not be written"):
            write_atomically(path, b"new" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_whose_disk_fails_is_a_write_that_failed(tmp_path, monkeypatch):
    fsync, calls = os.fsync, []

    def fail_second(descriptor):
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(errno.EIO, "Input/output error")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fail_second)
    with pytest.raises(ArtifactError, match="Input/output error"):
        write_atomically(tmp_path / "file", b"x")


def test_pipes_and_files_that_are_too_large_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="regular"):
        read_whole(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(2**40)
    with limited_to("1MB"), pytest.raises(Exception, match=r"large.*limit"):
        read_whole(tmp_path / "large")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
def test_a_folder_that_takes_no_file_is_one_sentence(tmp_path, monkeypatch, code):
    write_atomically(tmp_path / "file", b"old")
    opened = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(code, os.strerror(code), path)
        return opened(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(ArtifactError, match=f"{tmp_path / 'file'} could not be written: {os.strerror(code)}"):
        write_atomically(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"
