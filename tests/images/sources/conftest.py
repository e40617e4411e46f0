"""Every test of this folder has a cache of its own, and no data but what it makes."""

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The files that are in the cache."""
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("LQM_DATA", raising=False)
    return lambda: [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


@pytest.fixture
def random():
    return np.random.default_rng(0)


@pytest.fixture
def class_folders(tmp_path, random):
    """Two classes of five 8x8 PNG images; the pixels of each file."""

    def make(root=tmp_path / "animals", shape=(8, 8, 3), count=5, names=("cat", "dog")):
        pixels = {}
        for name in names:
            (root / name).mkdir(parents=True)
            for number in range(count):
                path = root / name / f"{number}.png"
                pixels[path] = random.integers(0, 256, shape, dtype=np.uint8)
                Image.fromarray(pixels[path]).save(path)
        return root, pixels

    return make
