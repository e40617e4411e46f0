import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_digits

from lqm.images.sources import Images, ImageSource, load_source
from lqm.utils.errors import ConfigError, DataError


def test_digits_are_all_of_scikit_learns_split_once_and_by_class(digits):
    assert len(digits.train.labels) + len(digits.test.labels) == 1797
    everything = torch.cat([digits.train.images, digits.test.images]).flatten(1).sort(dim=0).values
    expected = np.sort(load_digits().data / 16, axis=0).astype(np.float32)
    np.testing.assert_array_equal(everything, expected)
    for label in range(10):
        held_out = (digits.test.labels == label).sum() / ((load_digits().target == label).sum())
        assert held_out == pytest.approx(0.2, abs=0.01)


def test_the_digits_and_their_split_never_change(digits):
    assert digits.fingerprint == load_source("digits").fingerprint
    assert digits.fingerprint.startswith(DIGITS_FINGERPRINT)


DIGITS_FINGERPRINT = "d76276d11ea57454"


def test_normalised_training_images_have_mean_0_and_deviation_1(digits):
    images = digits.normalised(digits.train.images)
    assert images.mean().item() == pytest.approx(0, abs=1e-5)
    assert images.std(correction=0).item() == pytest.approx(1, abs=1e-5)


def test_digits_are_never_mirrored(digits):
    assert "flip" not in digits.augmentation


def test_an_unknown_source_suggests_the_nearest():
    with pytest.raises(ConfigError, match=r"'digit'.*'digits'"):
        load_source("digit")


def test_an_unknown_source_may_have_been_meant_as_a_path():
    with pytest.raises(ConfigError, match=r"cifar10, .*, tinyimagenet, .*folder.*\.npz"):
        load_source("nowhere/at/all")
    with pytest.raises(ConfigError, match="''"):
        load_source("")
    with pytest.raises(DataError, match=r"\bnowhere\b.*folder.*\.npz.*\.parquet"):
        load_source(Path("nowhere"))


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "round").symlink_to("round")
    for typed in ("~nobody-of-that-name/x", "a\0b", str(tmp_path / "round")):
        with pytest.raises(ConfigError, match="path"):
            load_source(typed)
        with pytest.raises(ConfigError, match="path"):
            load_source("mnist", data_dir=typed)


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "set.zip").write_bytes(b"")
    with pytest.raises(DataError, match=r"set\.zip .*folder"):
        load_source(tmp_path / "set.zip")


def test_a_source_is_returned_as_it_is_and_takes_no_options(digits):
    assert load_source(digits) is digits
    with pytest.raises(ConfigError, match=r"'digits'.*size, augmentation"):
        load_source(digits, size=8, augmentation=["flip"])


def test_a_source_is_found_again_by_its_origin():
    source = load_source("digits", size=16, augmentation=("crop", "scale"))
    assert source.origin == {"source": "digits", "size": 16, "augmentation": ["crop", "scale"]}
    again = load_source(**json.loads(json.dumps(source.origin)))
    assert (again.fingerprint, again.augmentation) == (source.fingerprint, ("crop", "scale"))
    assert source.shape == (1, 16, 16)
    assert load_source("digits").origin == {"source": "digits"}


def test_one_operation_needs_no_list():
    source = load_source("digits", augmentation="crop")
    assert source.augmentation == ("crop",)
    assert source.origin == {"source": "digits", "augmentation": ["crop"]}
    with pytest.raises(ConfigError, match=r"\(\).*tuple"):
        load_source("digits", augmentation=())


def test_a_path_called_like_a_known_source_stays_a_path(tmp_path, monkeypatch):
    rows = np.arange(4 * 64, dtype=np.uint8).reshape(4, 8, 8)
    for flipped, label in enumerate(("a", "b")):
        (tmp_path / "digits" / label).mkdir(parents=True)
        for number, pixels in enumerate(255 - rows if flipped else rows):
            Image.fromarray(pixels).save(tmp_path / "digits" / label / f"{number}.png")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "cache"))
    source = load_source(Path("digits"))
    assert source.class_names == ("a", "b")
    assert load_source(**source.origin).fingerprint == source.fingerprint


def test_the_digits_have_a_test_set_of_their_own():
    with pytest.raises(ConfigError, match=r"'digits'.*test set"):
        load_source("digits", test_fraction=0.5)


def test_bytes_are_measured_like_their_floats():
    whole = torch.randint(0, 256, (4, 3, 8, 8), dtype=torch.uint8)
    packed, floats = (source(Images(x, [0, 0, 1, 1]), Images(x, [0, 0, 1, 1])) for x in (whole, whole / 255))
    torch.testing.assert_close(packed.mean, floats.mean)
    torch.testing.assert_close(packed.std, floats.std)
    torch.testing.assert_close(packed.normalised(whole), floats.normalised(whole / 255))


def images(count=4, shape=(1, 8, 8), labels=(0, 0, 1, 1)):
    return Images(torch.rand(count, *shape), torch.tensor(labels))


def source(train, test=None, names=("a", "b")):
    return ImageSource("mine", train, test or images(), names)


def test_a_source_of_ones_own_is_accepted():
    assert source(images()).shape == (1, 8, 8)


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        (
            Images(torch.zeros(4, 8, 8), torch.zeros(4, dtype=torch.int64)),
            r"uint8.*\[N, C, H, W\]",
        ),
        (Images(torch.zeros(0, 1, 8, 8), torch.zeros(0, dtype=torch.int64)), "N > 0"),
        (Images(torch.zeros(4, 1, 8, 8, dtype=torch.int32), torch.zeros(4, dtype=torch.int64)), "uint8"),
        (
            Images(torch.rand(4, 1, 8, 8), torch.zeros(3, dtype=torch.int64)),
            r"whole numbers.*\[4\]",
        ),
        (Images(torch.rand(4, 1, 8, 8), torch.zeros(4)), "whole numbers"),
        (images(shape=(1, 8, 9)), "square.*8x8"),
        (images(shape=(1, 7, 7)), "square.*8x8"),
        (Images(torch.full((4, 1, 8, 8), 255.0), torch.tensor([0, 0, 1, 1])), r"\[0, 1\]"),
        (Images(torch.full((4, 1, 8, 8), torch.nan), torch.tensor([0, 0, 1, 1])), r"\[0, 1\]"),
        (images(labels=(0, 0, 1, 2)), "0 to 2.*2 class names.*0 to 1"),
        (images(labels=(0, 0, 0, 0)), "'b' of 'mine'.*training"),
        (images(shape=(1, 16, 16)), "training .*16x16x1.*test .*8x8x1"),
    ],
)
def test_data_that_cant_be_used_says_what_is_wrong_and_what_would_be_right(train, sentence):
    with pytest.raises(DataError, match=sentence):
        source(train)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.2, 0.5, 0.7, 0.9])
def test_a_constant_channel_is_left_as_it_is(value):
    constant = Images(torch.full((4, 1, 8, 8), value), torch.tensor([0, 0, 1, 1]))
    assert source(constant).std.item() == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_floats_of_any_precision_are_kept_as_float32(dtype):
    exact = (torch.rand(4, 1, 8, 8) * 255).round() / 255
    kept = Images(exact.to(dtype), torch.tensor([0, 0, 1, 1]))
    assert kept.images.dtype == torch.float32


def test_augmentations_are_checked_by_name():
    with pytest.raises(ConfigError, match=r"'flp'.*'flip'"):
        ImageSource("mine", images(), images(), ("a", "b"), augmentation=("flp",))
    with pytest.raises(ConfigError, match=r"\(\).*tuple"):
        ImageSource("mine", images(), images(), ("a", "b"), augmentation=())
    with pytest.raises(ConfigError, match=r"'flip'.*tuple"):
        ImageSource("mine", images(), images(), ("a", "b"), augmentation="flip")


def test_arrays_and_any_whole_numbers_are_taken():
    kept = Images(np.random.default_rng(0).random((4, 1, 8, 8)), np.array([0, 0, 1, 1], dtype=np.int32))
    assert source(kept).train.labels.dtype == torch.int64


def test_nothing_prints_its_pixels(digits):
    assert len(repr(digits)) < 400
    assert len(repr(digits.train)) < 100
