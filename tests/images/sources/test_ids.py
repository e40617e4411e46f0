"""Labels that are ids: ranks among the training labels are the classes, and the ids their names."""

import pickle
import tracemalloc

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

from lqm.images.sources import from_dataset, load_source
from lqm.utils.errors import DataError
from tests.images.sources.making import png, write

IDS = [1_999_999_999, 7, 7, 2**62, 1_999_999_999, 2**62]
RANKS = [1, 0, 0, 2, 1, 2]
NAMES = ("7", "1999999999", str(2**62))
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)


def from_npz(path, labels, test_labels):
    np.savez(path / "a.npz", train_x=PIXELS, train_y=labels, test_x=255 - PIXELS, test_y=test_labels)
    return load_source(path / "a.npz")


def from_parquet(path, labels, test_labels):
    write(path / "set" / "train.parquet", [png(p) for p in PIXELS], labels)
    write(path / "set" / "test.parquet", [png(255 - p) for p in PIXELS], test_labels)
    return load_source(path / "set")


def from_torch(_, labels, test_labels):
    pixels = torch.from_numpy(PIXELS).permute(0, 3, 1, 2)
    train, test = torch.tensor(labels), torch.tensor(test_labels)
    return from_dataset(TensorDataset(pixels, train), TensorDataset(255 - pixels, test))


every_reader = pytest.mark.parametrize("read", [from_npz, from_parquet, from_torch])


@pytest.fixture(autouse=True)
def little_memory():
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


@every_reader
def test_ids_become_ranks_and_name_the_classes(tmp_path, read):
    source = read(tmp_path, IDS, IDS[::-1])
    assert source.train.labels.tolist() == RANKS
    assert source.test.labels.tolist() == RANKS[::-1]
    assert source.class_names == NAMES


@every_reader
def test_gaps_are_no_reason_to_refuse(tmp_path, read):
    source = read(tmp_path, [0, 1, 3, 3, 1, 0], [0, 1, 3, 3, 1, 0])
    assert source.class_names == ("0", "1", "3")
    assert source.train.labels.tolist() == [0, 1, 2, 2, 1, 0]


@every_reader
def test_a_label_of_test_images_alone_is_refused(tmp_path, read):
    with pytest.raises(DataError, match=r"test images .*\b8\b.*no training image"):
        read(tmp_path, IDS, [7, 7, 7, 7, 7, 8])


def test_ids_are_split_by_class_too(tmp_path):
    np.savez(tmp_path / "a.npz", x=PIXELS, y=np.array(IDS))
    source = load_source(tmp_path / "a.npz")
    assert source.test.labels.sort().values.tolist() == [0, 1, 2]
    for part in (source.train, source.test):
        for image, label in zip(part.images, part.labels, strict=True):
            (place,) = (PIXELS.transpose(0, 3, 1, 2) == image.numpy()).all(axis=(1, 2, 3)).nonzero()[0]
            assert RANKS[place] == label


def test_names_need_their_numbers(tmp_path):
    np.savez(tmp_path / "a.npz", x=PIXELS, y=np.array(IDS), class_names=np.array(["a", "b", "c"]))
    with pytest.raises(DataError, match=r"leave out 0, 1, 2, .*\.\.\.; .*0 to 2\b"):
        load_source(tmp_path / "a.npz")


def test_a_batch_of_cifar_with_ids_is_refused_without_a_list_of_them(tmp_path, random):
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    for name in ("train", "test"):
        pixels = random.integers(0, 256, (6, 3072), dtype=np.uint8)
        (folder / name).write_bytes(pickle.dumps({"data": pixels, "fine_labels": IDS}, 2))
    (folder / "meta").write_bytes(pickle.dumps({"fine_label_names": ["a", "b", "c"]}, 2))
    with pytest.raises(DataError, match="leave out 0, 1"):
        load_source("cifar100", data_dir=tmp_path)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([2**63, 1, 0, 2, 1, 2**63], np.uint64),
        np.array([np.nan, 1, 0, 2, 1, 0]),
        np.array([np.inf, 1, 0, 2, 1, 0]),
        np.array([1e300, 1, 0, 2, 1, 0]),
        np.array([True, False] * 3),
        np.array(["2020-01-01", "2021-01-01"] * 3, "datetime64[D]"),
    ],
    ids=["2**63", "NaN", "infinite", "1e300", "bool", "dates"],
)
@pytest.mark.parametrize("read", [from_npz, from_parquet])
def test_labels_that_are_no_whole_numbers_that_can_be_kept_are_refused(tmp_path, read, labels):
    with pytest.raises(DataError, match=r"(not whole numbers|below 2\*\*63)"):
        read(tmp_path, labels, labels)


def test_as_many_classes_as_images_take_time_by_their_number(tmp_path):
    count = 20_000
    pixels = np.random.default_rng(0).integers(0, 256, (count, 8, 8), dtype=np.uint8)
    labels = np.random.default_rng(1).permutation(count).astype(np.int64) * 1_000_003
    np.savez(tmp_path / "a.npz", train_x=pixels, train_y=labels, test_x=255 - pixels[:9], test_y=labels[:9])
    source = load_source(tmp_path / "a.npz")
    assert len(source.class_names) == count
    assert [len(images) for images in source.by_class] == [1] * count
