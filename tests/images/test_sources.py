import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from lqm.errors import ConfigError, DataError
from lqm.images.sources import ImageSource, Pictures, load_source


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


def test_normalised_training_pictures_have_mean_0_and_deviation_1(digits):
    images = digits.normalised(digits.train.images)
    assert images.mean().item() == pytest.approx(0, abs=1e-5)
    assert images.std(correction=0).item() == pytest.approx(1, abs=1e-5)


def test_digits_are_never_mirrored(digits):
    assert "flip" not in digits.augmentation


def test_an_unknown_source_suggests_the_nearest():
    with pytest.raises(ConfigError, match="no source 'digit'; did you mean 'digits'"):
        load_source("digit")


def pictures(count=4, shape=(1, 8, 8), labels=(0, 0, 1, 1)):
    return Pictures(torch.rand(count, *shape), torch.tensor(labels))


def source(train, test=None, names=("a", "b")):
    return ImageSource("mine", train, test or pictures(), names)


def test_a_source_of_ones_own_is_accepted():
    assert source(pictures()).shape == (1, 8, 8)


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        (
            Pictures(torch.zeros(4, 8, 8), torch.zeros(4, dtype=torch.int64)),
            r"floats of shape \[N, C, H, W\]",
        ),
        (Pictures(torch.zeros(0, 1, 8, 8), torch.zeros(0, dtype=torch.int64)), "N > 0"),
        (Pictures(torch.zeros(4, 1, 8, 8, dtype=torch.uint8), torch.zeros(4, dtype=torch.int64)), "floats"),
        (
            Pictures(torch.rand(4, 1, 8, 8), torch.zeros(3, dtype=torch.int64)),
            r"whole numbers of shape \[4\]",
        ),
        (Pictures(torch.rand(4, 1, 8, 8), torch.zeros(4)), "whole numbers"),
        (pictures(shape=(1, 8, 9)), "square, at least 8x8"),
        (pictures(shape=(1, 7, 7)), "square, at least 8x8"),
        (Pictures(torch.full((4, 1, 8, 8), 255.0), torch.tensor([0, 0, 1, 1])), r"outside \[0, 1\]"),
        (Pictures(torch.full((4, 1, 8, 8), torch.nan), torch.tensor([0, 0, 1, 1])), r"outside \[0, 1\]"),
        (pictures(labels=(0, 0, 1, 2)), "labels from 0 to 2; with 2 class names they should be 0 to 1"),
        (pictures(labels=(0, 0, 0, 0)), "class 'b' of 'mine' has no training picture"),
        (pictures(shape=(1, 16, 16)), "training pictures of 16x16x1 and test pictures of 8x8x1"),
    ],
)
def test_data_that_cant_be_used_says_what_is_wrong_and_what_would_be_right(train, sentence):
    with pytest.raises(DataError, match=sentence):
        source(train)


@pytest.mark.parametrize("value", [0.0, 0.1, 0.2, 0.5, 0.7, 0.9])
def test_a_constant_channel_is_left_as_it_is(value):
    constant = Pictures(torch.full((4, 1, 8, 8), value), torch.tensor([0, 0, 1, 1]))
    assert source(constant).std.item() == 1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16])
def test_floats_of_any_precision_are_kept_as_float32(dtype):
    exact = (torch.rand(4, 1, 8, 8) * 255).round() / 255
    kept = Pictures(exact.to(dtype), torch.tensor([0, 0, 1, 1]))
    assert kept.images.dtype == torch.float32


def test_augmentations_are_checked_by_name():
    with pytest.raises(ConfigError, match="no augmentation 'flp'; did you mean 'flip'"):
        ImageSource("mine", pictures(), pictures(), ("a", "b"), augmentation=("flp",))
    with pytest.raises(ConfigError, match=r"is \(\); it should be a tuple"):
        ImageSource("mine", pictures(), pictures(), ("a", "b"), augmentation=())
    with pytest.raises(ConfigError, match="is 'flip'; it should be a tuple"):
        ImageSource("mine", pictures(), pictures(), ("a", "b"), augmentation="flip")


def test_arrays_and_any_whole_numbers_are_taken():
    kept = Pictures(np.random.default_rng(0).random((4, 1, 8, 8)), np.array([0, 0, 1, 1], dtype=np.int32))
    assert source(kept).train.labels.dtype == torch.int64


def test_nothing_prints_its_pixels(digits):
    assert len(repr(digits)) < 400
    assert len(repr(digits.train)) < 100
