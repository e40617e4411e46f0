import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

from lqm.images.sources import decoding, load_source
from lqm.utils.cache import cache_folder
from lqm.utils.errors import ArtifactError


@pytest.fixture
def decoded(monkeypatch):
    """The places of all images that were decoded."""
    places = []
    real = decoding.decode
    monkeypatch.setattr(decoding, "decode", lambda one, *how: (places.append(one.place), real(one, *how))[1])
    return places


def test_images_are_decoded_once(class_folders, decoded, kept):
    root, _ = class_folders()
    first = load_source(root)
    assert len(decoded) == 10
    second = load_source(root)
    assert len(decoded) == 10
    assert first.fingerprint == second.fingerprint
    assert second.class_names == ("cat", "dog")
    assert len(kept()) == 1


def test_a_published_split_comes_back_from_the_cache(class_folders, tmp_path, decoded):
    class_folders(tmp_path / "set" / "train")
    class_folders(tmp_path / "set" / "test", count=2)
    first, second = (load_source(tmp_path / "set") for _ in range(2))
    assert len(decoded) == 14
    assert first.fingerprint == second.fingerprint
    assert torch.equal(first.test.images, second.test.images)


def test_the_folder_may_be_moved_but_nothing_in_it(class_folders, decoded, tmp_path):
    root, _ = class_folders()
    load_source(root)
    moved = root.rename(tmp_path / "moved")
    load_source(moved)
    assert len(decoded) == 10
    (moved / "cat" / "0.png").rename(moved / "cat" / "9.png")
    load_source(moved)
    assert len(decoded) == 20


def test_a_changed_image_of_the_same_size_and_time_is_noticed(class_folders, decoded):
    root, _ = class_folders()
    path = root / "cat" / "0.png"
    before, stamp = load_source(root), path.stat()
    Image.new("RGB", (8, 8), "red").save(path)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert load_source(root).fingerprint != before.fingerprint
    assert len(decoded) == 20


def test_sizes_are_kept_apart(class_folders, decoded, kept):
    root, _ = class_folders()
    assert [load_source(root, size=size).shape[1] for size in (8, 16, None, 16)] == [8, 16, 8, 16]
    assert len(kept()) == 3


@pytest.mark.parametrize(
    "damage", [lambda content: content[:-7], lambda content: content[:-1] + b"x", lambda _: b""]
)
def test_a_damaged_entry_is_noticed_and_made_again(class_folders, decoded, kept, capsys, damage):
    root, _ = class_folders()
    before = load_source(root, show_progress=False)
    entry = kept()[0]
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    after = load_source(root, show_progress=False)
    assert after.fingerprint == before.fingerprint
    assert len(decoded) == 20
    assert entry.read_bytes() == whole
    assert "damaged" in capsys.readouterr().err


def test_a_cache_that_cant_be_written_warns_once_and_is_done_without(
    class_folders, tmp_path, monkeypatch, capsys
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    root, _ = class_folders()
    assert load_source(root, show_progress=False).shape == (3, 8, 8)
    assert capsys.readouterr().err.count(str(tmp_path / "file")) == 1


def test_the_cache_holds_no_executable_format(class_folders, kept):
    root, _ = class_folders()
    load_source(root)
    assert {path.suffix for path in kept()} == {".safetensors"}


def test_two_processes_may_fill_the_cache_at_once(class_folders, kept):
    root, _ = class_folders()
    code = "import sys, lqm; print(lqm.load_source(sys.argv[1]).fingerprint)"
    command = [sys.executable, "-c", code, str(root)]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    printed = {process.communicate(timeout=120)[0].strip() for process in both}
    assert printed == {load_source(root).fingerprint}
    assert len(kept()) == 1


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.setenv("LQM_CACHE", "")
    assert cache_folder() == tmp_path / "shared" / "lqm"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == tmp_path / "home" / ".cache" / "lqm"


def test_without_a_home_it_warns_and_does_without(class_folders, monkeypatch, capsys):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("LQM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(ArtifactError, match="set LQM_CACHE"):
        cache_folder()
    root, _ = class_folders()
    load_source(root, show_progress=False)
    assert "LQM_CACHE" in capsys.readouterr().err
