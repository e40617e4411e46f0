import errno
import os

import pytest

from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically


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
