"""Sets that are too large for the memory: decoded into a file of the cache, and read from there."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import psutil
import pytest
from PIL import Image

import lqm
from lqm.images.sources import load_source
from lqm.utils import cache
from lqm.utils.errors import ArtifactError, DataError
from lqm.utils.limits import limited_to
from lqm.utils.stored_arrays import LazyArray, StoredArray
from lqm.utils.tensor_drafts import TensorDraft
from tests.faults.children import start
from tests.images.sources.making import png, write


@pytest.fixture
def in_file(monkeypatch):
    """Even the smallest set is too large for the memory, or is not."""
    return lambda large: monkeypatch.setattr("lqm.utils.limits._RESIDENT_PART", 2**40 if large else 4)


def load(source, limit=None, **options):
    with limited_to(limit):
        return load_source(source, show_progress=False, **options)


def shards(folder, random, count=30, shape=(32, 32, 3)):
    """Three Parquet files for training and one for testing, as the hub has them."""
    for number in range(3):
        images = random.integers(0, 256, (count, *shape), dtype=np.uint8)
        write(
            folder / f"train-0000{number}-of-00003.parquet",
            [png(image) for image in images],
            [row % 2 for row in range(count)],
            names=["a", "b"],
        )
    images = random.integers(0, 256, (9, *shape), dtype=np.uint8)
    write(folder / "test-00000-of-00001.parquet", [png(i) for i in images], [0, 1, 0] * 3, names=["a", "b"])
    return folder


def colour_late(folder, random):
    """Greyscale images before the first in colour."""
    for name, channels in (("cat", 1), ("dog", 3)):
        (folder / name).mkdir(parents=True)
        for number in range(30):
            pixels = random.integers(0, 256, (48, 48, channels), dtype=np.uint8).squeeze()
            Image.fromarray(pixels).save(folder / name / f"{number:02}.png")
    return folder


def arrays(folder, random, shape=(40, 40, 3)):
    """A compressed file with a training and a test set."""
    folder.mkdir()
    parts = {
        f"{name}_x": random.integers(0, 256, (n, *shape), np.uint8)
        for name, n in (("train", 50), ("test", 9))
    }
    labels = {"train_y": np.arange(50) % 2, "test_y": np.arange(9) % 2}
    np.savez_compressed(folder / "mine.npz", **parts, **labels, class_names=["a", "b"])
    return folder / "mine.npz"


def images_kept(kept):
    return [path for path in kept() if path.parent.name == "images"]


@pytest.mark.parametrize("make", [shards, colour_late, arrays])
def test_a_large_set_stays_in_a_file_and_is_the_same_set(tmp_path, random, kept, in_file, make):
    folder = make(tmp_path / "set", random)
    in_file(True)
    stored, again = load(folder), load(folder)
    assert isinstance(stored.train.images, LazyArray)
    assert isinstance(stored.test.images, LazyArray)
    assert [path.suffix for path in images_kept(kept)] == [".safetensors"]
    in_file(False)
    in_memory = load(folder)
    assert not isinstance(in_memory.train.images, LazyArray)
    shutil.rmtree(tmp_path / "cache")
    fresh = load(folder)
    assert stored.fingerprint == again.fingerprint == in_memory.fingerprint == fresh.fingerprint
    assert stored.preprocessing == fresh.preprocessing


@pytest.mark.parametrize("shape", [(24, 40, 3), (20, 24)])
@pytest.mark.parametrize("at_a_time", [1, 10**4, 10**9])
def test_arrays_of_any_shape_are_scaled_some_at_a_time(
    tmp_path, random, in_file, monkeypatch, shape, at_a_time
):
    path = arrays(tmp_path / "set", random, shape)
    wanted = load(path, size=16)
    in_file(True)
    monkeypatch.setattr("lqm.images.sources.npz._AT_A_TIME", at_a_time)
    found = load(path, size=16)
    assert isinstance(found.train.images, LazyArray)
    assert found.fingerprint == wanted.fingerprint


def test_an_array_that_is_damaged_is_named_and_leaves_nothing(tmp_path, random, kept, in_file):
    in_file(True)
    path = arrays(tmp_path / "set", random)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"'train_x' of .*mine\.npz can't be read"):
        load(path)
    assert kept() == []


def test_shards_are_read_in_the_order_of_their_names(tmp_path, random, in_file):
    in_file(True)
    images = random.integers(0, 256, (4, 8, 8, 3), dtype=np.uint8)
    for number in (3, 0, 2, 1):
        path = tmp_path / "set" / f"train-0000{number}-of-00004.parquet"
        write(path, [png(images[number])] * 2, [0, 1])
    write(tmp_path / "set" / "test-00000-of-00001.parquet", [png(images[0] // 2)] * 2, [0, 1])
    found = load(tmp_path / "set").train.images
    assert isinstance(found, StoredArray)
    assert (found[::2].permute(0, 2, 3, 1).numpy() == images).all()


def test_a_run_on_a_set_in_a_file_is_that_on_the_same_set_in_memory(tmp_path, random, in_file):
    folder = shards(tmp_path / "set", random)
    settings = {"steps": 2, "network": "convnet:width=4:depth=2", "real_batch": 8}
    made = []
    for large in (True, False):
        in_file(large)
        source = load(folder)
        made.append(lqm.condense(source, per_class=2, settings=settings, compile="off", show_progress=False))
    assert made[0].data.equal(made[1].data)
    assert made[0].manifest["source"] == made[1].manifest["source"]


def test_a_set_with_a_damaged_image_leaves_nothing_in_the_cache(tmp_path, random, kept, in_file):
    in_file(True)
    folder = shards(tmp_path / "set", random)
    write(folder / "train-00003-of-00003.parquet", [b"x"], [0], names=["a", "b"])
    with pytest.raises(DataError, match=r"row 0 of .*no image of a known format"):
        load(folder)
    assert kept() == []


def test_a_file_that_was_changed_is_made_again(tmp_path, random, kept, in_file, monkeypatch, capsys):
    in_file(True)
    folder = shards(tmp_path / "set", random)
    stored = load(folder).fingerprint
    (path,) = images_kept(kept)
    with path.open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"other")
    monkeypatch.setattr(cache, "_checked", set())  # as in another process
    assert load(folder).fingerprint == stored
    assert "was damaged, and is made again" in capsys.readouterr().err


def test_the_hash_of_a_large_file_is_checked_once_in_a_process(tmp_path, random, in_file, monkeypatch):
    in_file(True)
    folder = shards(tmp_path / "set", random)
    load(folder)
    monkeypatch.setattr(cache, "_checked", set())
    hashed, before = [], cache.TensorFile.sha256
    monkeypatch.setattr(cache.TensorFile, "sha256", lambda self: hashed.append(self) or before(self))
    for _ in range(2):
        load(folder)
    assert len(hashed) == 1


def test_a_file_that_is_cut_short_while_it_is_used_is_a_sentence(tmp_path, random, kept, in_file):
    in_file(True)
    source = load(shards(tmp_path / "set", random))
    (path,) = images_kept(kept)
    os.truncate(path, 1000)
    with pytest.raises(ArtifactError, match=r"\.safetensors can't be read .*cut short"):
        source.by_class[0][:]


def test_without_a_cache_a_set_that_fits_is_in_memory(tmp_path, random, in_file, monkeypatch, capsys):
    in_file(True)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    source = load(shards(tmp_path / "set", random))
    assert not isinstance(source.train.images, LazyArray)
    assert "held in memory" in capsys.readouterr().err


def test_without_a_cache_a_set_that_does_not_fit_is_refused(tmp_path, random, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    (tmp_path / "set" / "a").mkdir(parents=True)
    (tmp_path / "set" / "b").mkdir()
    for number in range(40):
        Image.new("RGB", (128, 128), (number, 0, 0)).save(
            tmp_path / "set" / "ab"[number % 2] / f"{number}.png"
        )
    with pytest.raises(DataError, match=r"40 images .*above the limit of .* can't be kept in .*LQM_CACHE"):
        load(tmp_path / "set", "1MB")


def test_a_disk_that_is_full_is_a_sentence_and_leaves_nothing(tmp_path, random, kept, in_file, monkeypatch):
    def full(self, record):
        raise OSError(28, "No space left on device")

    in_file(True)
    monkeypatch.setattr(TensorDraft, "add", full)
    with pytest.raises(ArtifactError, match=r"can't be kept in .*images \(No space left on device\); give"):
        load(shards(tmp_path / "set", random))
    assert kept() == []


def measured(folder):
    """Decode 98 MB of pixels with a limit of 64 MB of memory."""
    source = Path(folder) / "set"
    lqm.load_source("digits")
    with limited_to("64MB"):
        load_source(source / "small", show_progress=False)
        Path("/proc/self/clear_refs").write_text("5")  # the most memory counts from here on
        before = psutil.Process().memory_info().rss
        found = load_source(source / "large", show_progress=False)
    status = Path("/proc/self/status").read_text().splitlines()
    (peak,) = (int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    size = found.train.images.numel() + found.test.images.numel()
    (Path(folder) / "found.json").write_text(json.dumps([size, peak - before]))


def test_decoding_never_has_all_images_in_memory(tmp_path):
    for name, count in (("small", 4), ("large", 250)):
        for label in ("cat", "dog"):
            (tmp_path / "set" / name / label).mkdir(parents=True)
            for number in range(count):
                image = Image.new("RGB", (256, 256), (number % 256, 7 * (label == "cat"), number // 256))
                image.save(tmp_path / "set" / name / label / f"{number}.png")
    child = start(tmp_path, measured, str(tmp_path))
    child.join(120)
    assert child.exitcode == 0, (tmp_path / "messages").read_text()
    size, grown = json.loads((tmp_path / "found.json").read_text())
    assert size > 98_000_000
    assert grown < 48 << 20
