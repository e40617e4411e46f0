"""Images of an archive that grow while they are read."""

import contextlib
import tracemalloc

import numpy as np
import pytest

from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to

# What reading takes besides images, however small they are.
BESIDES = 2 * 2**20


@pytest.mark.parametrize("kind", ["u1", "f2", "f4", "f8"])
def test_images_are_read_within_the_limit_or_refused(tmp_path, kind):
    path = tmp_path / "set.npz"
    images = np.random.default_rng(0).integers(0, 256, (512, 64, 64), np.uint8)
    images = images if kind == "u1" else (images / 255).astype(kind)
    np.savez(path, images=images, labels=np.arange(512) % 2)
    del images
    read = []
    for limit in (2, 5, 10, 20, 40):
        with limited_to(f"{limit}MB"):
            tracemalloc.start()
            with contextlib.suppress(DataError):
                read.append(len(load_source(path).train.images))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        assert peak < 1.2 * limit * 2**20 + BESIDES
    # Images of 8 bits go to the cache as they are read, so that no limit is too small.
    assert len(read) == 5 if kind == "u1" else 0 < len(read) < 5


def test_the_sentence_names_the_array_and_the_remedy(tmp_path):
    np.savez_compressed(tmp_path / "set.npz", images=np.zeros((64, 64, 64)), labels=np.arange(64) % 2)
    with limited_to("1MB"), pytest.raises(DataError, match=r"'images' of .*set\.npz .*--max-memory"):
        load_source(tmp_path / "set.npz")
