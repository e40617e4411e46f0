"""Files that claim more than they hold, or hold more than they show: refused before the memory is taken."""

import gzip
import io
import struct
import tracemalloc
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image, PngImagePlugin
from torch.utils.data import Dataset

from lqm.images.sources import from_dataset, load_source
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.limits import limited_to
from tests.images.sources.making import png, write

LABELS = [0, 1, 0, 1, 0, 1]


def refused(sentence, source, limit="50MB", **options):
    with limited_to(limit), pytest.raises(DataError, match=sentence) as caught:
        load_source(source, show_progress=False, **options)
    assert "\n" not in str(caught.value)


def good(count=6):
    pixels = np.random.default_rng(0).integers(0, 256, (count, 8, 8, 3), dtype=np.uint8)
    return [png(image) for image in pixels]


def test_a_dictionary_of_one_large_value_is_read_a_little_at_a_time(tmp_path):
    """300 rows of the same 8 MB: 2.4 GB of values in a file of a KB."""
    value = png(np.zeros((8, 8, 3), np.uint8)) + bytes(2**23)
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array([value]))
    path = tmp_path / "mine.parquet"
    pq.write_table(
        pa.table({"image": rows, "label": [0, 1] * 150}), path, compression="zstd", store_schema=False
    )
    assert path.stat().st_size < 5000
    before, pool = pa.default_memory_pool(), pa.proxy_memory_pool(pa.default_memory_pool())
    pa.set_memory_pool(pool)
    tracemalloc.start()
    with pytest.raises(DataError, match="have the value 0"):
        load_source(path, show_progress=False)
    pa.set_memory_pool(before)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pool.max_memory() + peak < 400 * 2**20


def test_a_page_that_unpacks_to_more_than_the_limit_is_refused(tmp_path):
    contents = [*good(5), good(1)[0] + bytes(30 * 2**20)]
    write(tmp_path / "mine.parquet", contents, LABELS, flat=True)
    refused(r"'img' of .*mine\.parquet .*above the limit", tmp_path / "mine.parquet")


def test_more_rows_than_could_be_images_are_refused(tmp_path):
    labels = pa.array(np.arange(2_000_000) % 2)
    table = pa.table({"image": pa.nulls(2_000_000, pa.binary()), "label": labels})
    pq.write_table(table, tmp_path / "mine.parquet")
    refused(r"2,000,000 rows .*above the limit", tmp_path / "mine.parquet")


def write_idx(folder, shape, content, zipped=True):
    header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
    file = gzip.compress(header + content) if zipped else header + content
    (folder / f"train-images-idx3-ubyte{'.gz' if zipped else ''}").write_bytes(file)
    (folder / "train-labels-idx1-ubyte").write_bytes(b"")


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("shape", "content", "sentence"),
    [
        ((2**31, 2**31, 28), b"", "above the limit"),
        ((60000, 28, 28), b"1234", "cut off|limit"),
        ((6, 28, 28), bytes(6 * 28 * 28 + 1), "longer than its header"),
        ((1,) * 65, b"1", "1 to 4 axes"),
        ((1,) * 255, b"1", "1 to 4 axes"),
        ((), b"1", "1 to 4 axes"),
    ],
)
def test_an_idx_header_is_not_believed(tmp_path, shape, content, sentence, zipped):
    write_idx(tmp_path, shape, content, zipped)
    refused(rf"train-images-idx3-ubyte.*({sentence})", "mnist", data_dir=tmp_path)


def test_a_gzip_bomb_is_unpacked_no_further_than_its_header_says(tmp_path):
    header = struct.pack(">HBB3I", 0, 8, 3, 6, 28, 28)
    bomb = gzip.compress(header + bytes(2**27), 1)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(bomb)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"")
    del bomb
    tracemalloc.start()
    refused("longer than its header", "mnist", data_dir=tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_a_sparse_file_is_refused_by_its_size(tmp_path):
    (tmp_path / "batches.meta.txt").write_text("a\nb\n")
    for name in (
        "data_batch_1.bin",
        "data_batch_2.bin",
        "data_batch_3.bin",
        "data_batch_4.bin",
        "data_batch_5.bin",
    ):
        with (tmp_path / name).open("wb") as file:
            file.truncate(2**40)
    refused(r"above the limit", "cifar10", data_dir=tmp_path)
    (tmp_path / "set" / "cat").mkdir(parents=True)
    (tmp_path / "set" / "dog").mkdir()
    Image.new("L", (8, 8)).save(tmp_path / "set" / "dog" / "a.png")
    with (tmp_path / "set" / "cat" / "a.png").open("wb") as file:
        file.truncate(2**40)
    refused(r"a\.png .*above the limit", tmp_path / "set")


def claims(width, height):
    """A PNG of some bytes that claims a size."""
    header = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
    data = b"IDAT" + zlib.compress(bytes(100))
    return start + struct.pack(">I", len(data) - 4) + data + struct.pack(">I", zlib.crc32(data))


def webp(width, height):
    file = io.BytesIO()
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(file, "WEBP", save_all=True, append_images=frames[1:])
    content = bytearray(file.getvalue())
    assert content[12:16] == b"VP8X"
    content[24:30] = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return bytes(content)


@pytest.mark.parametrize("content", [claims(20000, 20000), claims(10000, 9000), webp(16000, 16000)])
def test_an_image_that_claims_too_many_pixels_is_one_sentence(tmp_path, content, recwarn):
    write(tmp_path / "mine.parquet", [*good(5), content], LABELS)
    refused(r"row 5 of .*pixels.*limit of .*--max-memory", tmp_path / "mine.parquet")
    assert not recwarn.list


def test_images_that_fit_neither_in_memory_nor_in_the_cache_are_refused_after_the_first(
    tmp_path, monkeypatch
):
    for name in ("cat", "dog"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for number in range(20):
            Image.new("RGB", (300, 300), (number, 0, 0)).save(tmp_path / "set" / name / f"{number}.png")
    monkeypatch.setenv("LQM_CACHE_LIMIT", "9MB")
    refused(r"40 images .*0\.png would take .*above the limit .*LQM_CACHE_LIMIT", tmp_path / "set", "8MB")
    with limited_to("8MB"):
        assert load_source(tmp_path / "set", size=8, show_progress=False).shape == (3, 8, 8)


@pytest.mark.parametrize("source", ["digits", "nowhere"])
def test_a_size_beyond_the_limit_is_refused_before_any_work(source):
    with pytest.raises(ConfigError, match=r"size is 1000000000, above \d.*--max-memory"):
        load_source(source, size=10**9)


def test_a_set_that_grows_beyond_the_limit_is_refused():
    refused(r"'digits' of 1000x1000 .*above the limit", "digits", size=1000)


class Claims(Dataset):
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.zeros(3, 64, 64, dtype=torch.uint8), index % 2


@pytest.mark.parametrize("length", [10**6, 2**62])
def test_a_dataset_that_claims_many_images_is_refused(length):
    with limited_to("50MB"), pytest.raises(DataError, match=r"item 0 .*above the limit"):
        from_dataset(Claims(length), show_progress=False)


def test_a_limit_chosen_outside_holds_in_the_threads_that_decode(tmp_path):
    write(tmp_path / "mine.parquet", [*good(5), claims(1000, 1000)], LABELS)
    refused("row 5 of .*limit of 21,", tmp_path / "mine.parquet", limit="1MB")


def test_text_in_an_image_that_bursts_is_refused(tmp_path):
    file = io.BytesIO()
    extra = PngImagePlugin.PngInfo()
    extra.add_text("a", "b" * 10**7, zip=True)
    Image.new("RGB", (8, 8)).save(file, "PNG", pnginfo=extra)
    write(tmp_path / "mine.parquet", [*good(5), file.getvalue()], LABELS)
    refused(r"row 5 of .*\(.*too large.*\)", tmp_path / "mine.parquet")


def test_files_that_are_read_at_a_time_fit_together(tmp_path):
    """One such file is within the limit, but four of them are not."""
    for name in ("cat", "dog"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for number, content in enumerate(good(3)):
            (tmp_path / "set" / name / f"{number}.png").write_bytes(content)
    with (tmp_path / "set" / "dog" / "2.png").open("ab") as file:
        file.truncate(40 * 2**20)
    refused(r"2\.png .*above the limit", tmp_path / "set")


def test_a_text_of_many_short_lines_is_refused_before_they_are_parted(tmp_path):
    (tmp_path / "tiny-imagenet-200").mkdir()
    (tmp_path / "tiny-imagenet-200" / "wnids.txt").write_bytes(b"ab\n" * 1_000_000)
    refused(r"wnids\.txt .*above the limit", "tinyimagenet", data_dir=tmp_path)


def test_classes_that_are_nearly_as_many_as_the_images_are_refused(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (40_000, 8, 8), dtype=np.uint8)
    np.savez(tmp_path / "ids.npz", x=images, y=np.arange(40_000) // 2)
    refused(r"20,000 classes .*above the limit", tmp_path / "ids.npz")
