"""Folders of idx files are read under their own name, with the classes of the published set if it fits."""

import numpy as np
import pytest

from lqm.images.augment import OPERATIONS
from lqm.images.sources import load_source
from lqm.utils.errors import ConfigError, DataError
from tests.images.sources.test_named import write_idx


def write_set(folder, classes=10, prefix="", first=0, tested="t10k", side=28, zipped=False):
    draws = np.random.default_rng(0)
    labels = (np.arange(2 * classes) % classes + first).astype(np.uint8)
    pixels = [draws.integers(0, 256, (len(labels), side, side), dtype=np.uint8) for _ in range(2)]
    for part, images in zip(("train", tested), pixels, strict=True):
        write_idx(folder / f"{prefix}{part}-images-idx3-ubyte", images, zipped)
        write_idx(folder / f"{prefix}{part}-labels-idx1-ubyte", labels, zipped)
    return pixels


@pytest.mark.parametrize("folder", ["fashion-mnist", "FashionMNIST/raw", "fashion_mnist"])
@pytest.mark.parametrize("zipped", [False, True])
def test_fashion_mnist_is_found_by_its_name(tmp_path, folder, zipped):
    train, test = write_set(tmp_path / folder, zipped=zipped)
    source = load_source("fashion-mnist", data_dir=tmp_path)
    assert np.array_equal(source.train.images[:, 0], train)
    assert np.array_equal(source.test.images[:, 0], test)
    assert (source.name, source.recipes, len(source.class_names)) == ("fashion-mnist", "mnist", 10)
    assert (source.class_names[0], source.class_names[-1]) == ("T-shirt/top", "Ankle boot")
    assert source.augmentation == OPERATIONS, "a mirrored shoe is a shoe"
    assert source.origin["source"] == "fashion-mnist"


@pytest.mark.parametrize("folder", ["fashion-mnist", "FashionMNIST/raw"])
def test_its_folder_as_a_path_is_the_same_source(tmp_path, folder):
    write_set(tmp_path / folder)
    named = load_source("fashion-mnist", data_dir=tmp_path)
    by_path = load_source(tmp_path / folder)
    assert by_path.name == "fashion-mnist"
    assert by_path.fingerprint == named.fingerprint
    assert load_source("fashion-mnist", data_dir=tmp_path / folder).fingerprint == named.fingerprint


def test_a_folder_of_an_unknown_name_keeps_it_and_its_labels(tmp_path):
    write_set(tmp_path / "tiles", classes=4, side=16)
    source = load_source(tmp_path / "tiles")
    assert (source.name, source.recipes, source.class_names) == ("tiles", "own", ("0", "1", "2", "3"))


def test_classes_that_don_t_fit_the_name_stay_numbers(tmp_path):
    write_set(tmp_path / "kmnist", classes=3)
    source = load_source("kmnist", data_dir=tmp_path)
    assert (source.name, source.recipes, source.class_names) == ("kmnist", "own", ("0", "1", "2"))


def test_kmnist_has_the_names_of_its_letters_and_is_not_mirrored(tmp_path):
    write_set(tmp_path / "KMNIST" / "raw")
    source = load_source("kmnist", data_dir=tmp_path)
    assert source.class_names[:3] == ("o", "ki", "su")
    assert "flip" not in source.augmentation


def test_emnist_letters_are_numbered_from_1_and_stored_on_their_side(tmp_path):
    train, _ = write_set(tmp_path / "EMNIST" / "raw", 26, "emnist-letters-", 1, "test")
    source = load_source("emnist-letters", data_dir=tmp_path)
    assert "".join(source.class_names) == "abcdefghijklmnopqrstuvwxyz"
    assert source.train.labels.min() == 0
    assert np.array_equal(source.train.images[:, 0], train.transpose(0, 2, 1))


def test_a_folder_of_several_sets_of_emnist_asks_which(tmp_path):
    write_set(tmp_path / "emnist", 26, "emnist-letters-", 1, "test")
    assert load_source(tmp_path / "emnist").name == "emnist-letters"
    write_set(tmp_path / "emnist", 10, "emnist-digits-", 0, "test")
    with pytest.raises(DataError, match="holds emnist-letters, emnist-digits; give one of these names"):
        load_source(tmp_path / "emnist")


def test_mnist_is_not_what_lies_in_the_folder_of_another_set(tmp_path):
    write_set(tmp_path / "fashion-mnist")
    with pytest.raises(DataError, match="'mnist' was not found"):
        load_source("mnist", data_dir=tmp_path / "fashion-mnist")


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(DataError, match=r"'emnist-digits' .*emnist/emnist-digits-train-images-idx3-ubyte"):
        load_source("emnist-digits", data_dir=tmp_path)
    with pytest.raises(ConfigError, match="did you mean 'fashion-mnist'"):
        load_source("fashon-mnist")
