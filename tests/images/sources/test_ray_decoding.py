"""Parquet shards that Ray Data decodes: the same set as one that is read here."""

import shutil

import numpy as np
import pytest

import lqm
from lqm.images.sources import load_source
from lqm.images.sources.parquet import read_parquet
from lqm.images.sources.ray_decoding import decode_with_ray
from lqm.utils.errors import DataError
from lqm.utils.stored_arrays import StoredArray
from tests.images.sources.making import png, write

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", logging_level="ERROR")
    yield
    ray.shutdown()


def shards(folder, random, count=40):
    """Four files for training, the third with the first images in colour, and one for testing."""
    for number in range(4):
        shape = (16, 16, 3) if number == 2 else (16, 16)
        images = random.integers(0, 256, (count, *shape), dtype=np.uint8)
        path = folder / f"train-0000{number}-of-00004.parquet"
        write(path, [png(image) for image in images], [row % 2 for row in range(count)])
    tests = random.integers(0, 256, (6, 16, 16), dtype=np.uint8)
    write(folder / "test-00000-of-00001.parquet", [png(image) for image in tests], [0, 1] * 3)
    return folder


@pytest.mark.parametrize("part", [4, 2**40])
def test_the_set_is_the_same_as_one_that_is_read_here(tmp_path, random, kept, monkeypatch, part):
    monkeypatch.setattr("lqm.utils.limits._RESIDENT_PART", part)
    monkeypatch.setattr("lqm.images.sources.ray_decoding._AT_A_TIME", 5000)
    folder = shards(tmp_path / "set", random)
    decode_with_ray(folder, show_progress=False)
    monkeypatch.setattr("lqm.images.sources.decoding._fill", None)  # all comes from the cache
    source = load_source(folder, show_progress=False)
    assert isinstance(source.train.images, StoredArray) == (part != 4)
    monkeypatch.undo()
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "other"))
    assert load_source(folder, show_progress=False).fingerprint == source.fingerprint


def test_a_damaged_image_is_the_same_sentence_and_leaves_nothing(tmp_path, random, kept):
    folder = shards(tmp_path / "set", random)
    write(folder / "train-00003-of-00004.parquet", [b"x"], [0])
    with pytest.raises(DataError, match=r"row 0 of .*train-00003.* is no image of a known format"):
        decode_with_ray(folder, show_progress=False)
    assert kept() == []


def test_a_folder_without_parquet_files_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no Parquet files"):
        decode_with_ray(tmp_path)


def test_a_sketch_by_ray_lets_its_workers_decode_and_has_the_same_bits(tmp_path, random, monkeypatch):
    folder = shards(tmp_path / "set", random)
    options = {"encoders": 2, "max_per_class": 2, "settings": {"network": "convnet:width=4"}, "threads": 1}
    decoded = []
    monkeypatch.setattr(
        "lqm.images.sources.ray_decoding.read_parquet",
        lambda *parts, **how: decoded.append(parts) or read_parquet(*parts, **how),
    )
    found = {}
    for engine in ("local", "ray"):
        monkeypatch.setenv("LQM_CACHE", str(tmp_path / f"cache-{engine}"))
        lqm.sketch(folder, out=tmp_path / engine, engine=engine, show_progress=False, **options)
        found[engine] = sorted(path.name for path in (tmp_path / engine).glob("*.safetensors"))
    assert found["ray"] == found["local"]
    assert len(decoded) == 1
