import numpy as np
import pytest
import torch

from lqm.images.sources import load_source
from lqm.utils.errors import DataError

LABELS = np.array([0, 0, 0, 1, 1, 1])
PIXELS = np.random.default_rng(0).integers(0, 256, (6, 8, 8), dtype=np.uint8)


@pytest.fixture
def write(tmp_path):
    def write(**arrays):
        np.savez(tmp_path / "set.npz", **arrays)
        return tmp_path / "set.npz"

    return write


@pytest.mark.parametrize(
    "keys",
    [
        ("train_x", "train_y", "test_x", "test_y"),
        ("x_train", "y_train", "x_test", "y_test"),
        ("train_images", "train_labels", "test_images", "test_labels"),
    ],
)
def test_a_set_with_its_test_set_is_kept_as_it_is(write, keys):
    path = write(**dict(zip(keys, (PIXELS, LABELS, 255 - PIXELS[:2], LABELS[[0, 5]]), strict=True)))
    source = load_source(path)
    assert source.name == "set"
    assert source.class_names == ("0", "1")
    np.testing.assert_array_equal(source.train.images[:, 0], PIXELS)
    np.testing.assert_array_equal(source.test.images[:, 0], 255 - PIXELS[:2])
    assert source.test.labels.tolist() == [0, 1]


@pytest.mark.parametrize("keys", [("images", "labels"), ("x", "y"), ("data", "labels")])
def test_a_set_without_a_test_set_is_split(write, keys):
    names = np.array(["no", "yes"])
    source = load_source(write(**{keys[0]: PIXELS, keys[1]: LABELS}, class_names=names))
    assert source.class_names == ("no", "yes")
    assert torch.bincount(source.train.labels).tolist() == [2, 2]
    assert torch.bincount(source.test.labels).tolist() == [1, 1]
    for image, label in zip(source.test.images, source.test.labels, strict=True):
        where = (image[0].numpy() == PIXELS).all(axis=(1, 2)).nonzero()[0]
        assert LABELS[where].tolist() == [label]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((6, 8, 8), (1, 8, 8)),
        ((6, 8, 8, 1), (1, 8, 8)),
        ((6, 8, 8, 3), (3, 8, 8)),
        ((6, 3, 8, 8), (3, 8, 8)),
        ((6, 4, 8, 8), (4, 8, 8)),
        ((6, 8, 8, 2), (2, 8, 8)),
    ],
)
def test_channels_are_found_where_they_are(write, random, shape, expected):
    pixels = random.integers(0, 256, shape, dtype=np.uint8)
    source = load_source(write(train_x=pixels, train_y=LABELS, test_x=255 - pixels, test_y=LABELS))
    assert source.shape == expected
    last = np.moveaxis(pixels, -1, 1) if shape[-1] < 8 else pixels.reshape(6, *expected)
    np.testing.assert_array_equal(source.train.images, last)


def test_channels_are_last_where_two_axes_could_be_them(write, random):
    pixels = random.integers(0, 256, (6, 4, 8, 4), dtype=np.uint8)
    assert load_source(write(x=pixels, y=LABELS), size=8).shape == (4, 8, 8)


def test_floats_are_kept_and_whole_numbers_become_bytes(write):
    floats = (PIXELS / 255).astype(np.float64)
    kept = load_source(write(train_x=floats, train_y=LABELS, test_x=1 - floats, test_y=LABELS)).train.images
    np.testing.assert_array_equal(kept[:, 0], floats.astype(np.float32))
    whole = PIXELS.astype(np.float32)
    packed = load_source(write(train_x=whole, train_y=LABELS, test_x=255 - whole, test_y=LABELS)).train.images
    assert packed.dtype == torch.uint8
    np.testing.assert_array_equal(packed[:, 0], PIXELS)


def test_arrays_are_resized_too_bytes_and_floats_alike(write, random):
    pixels = random.integers(0, 256, (6, 16, 32), dtype=np.uint8)
    packed = load_source(write(x=pixels, y=LABELS), size=8)
    floats = load_source(write(x=pixels / 255, y=LABELS), size=8)
    assert packed.shape == floats.shape == (1, 8, 8)
    assert floats.train.images.min() >= 0
    assert floats.train.images.max() <= 1
    assert (packed.train.images / 255 - floats.train.images).abs().max() < 0.03


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"x": PIXELS, "z": LABELS}, r"set\.npz .*x, z.*train_x, train_y, .*images, labels"),
        ({"x": PIXELS.astype(np.uint16), "y": LABELS}, r"'x' of .*set\.npz .*16-bit.*\b8\b"),
        ({"x": PIXELS.astype(np.int32), "y": LABELS}, "int32.*uint8, or floats"),
        ({"x": PIXELS / 100 - 1, "y": LABELS}, r"-1 to .*\[0, 1\]"),
        ({"x": PIXELS * 2.0, "y": LABELS}, r"\[0, 1\]"),
        ({"x": PIXELS / 2 + 0.3, "y": LABELS}, "0 to 255"),
        ({"x": np.full((6, 8, 8), np.nan), "y": LABELS}, r"\bnan at \[0, 0, 0, 0\]"),
        ({"x": np.full((6, 8, 8), np.inf), "y": LABELS}, r"\binf at \[0, 0, 0, 0\]"),
        ({"x": PIXELS[0], "y": LABELS}, r"\[8, 8\].*\[N, H, W\]"),
        ({"x": np.zeros((6, 8, 8, 8), np.uint8), "y": LABELS}, "C from 1 to 4"),
        ({"x": PIXELS[:0], "y": LABELS[:0]}, "N > 0"),
        ({"x": PIXELS, "y": LABELS + 0.5}, "not whole numbers.*0, 1, 2"),
        ({"x": PIXELS, "y": LABELS.astype(str)}, "not whole numbers"),
        ({"x": PIXELS, "y": LABELS[:4]}, r"'y' of .*set\.npz .*\[4\].*\[6\]"),
        ({"x": PIXELS, "y": LABELS - 1}, "-1.*0, 1, 2"),
        ({"x": PIXELS, "y": LABELS * 3, "class_names": np.array(list("abcd"))}, "1, 2.*0 to 1"),
        ({"x": PIXELS, "y": LABELS * 0}, "one class, '0'"),
        ({"x": PIXELS, "y": LABELS, "class_names": np.array(["a"])}, "1 class names.*2 classes"),
        ({"x": np.array([{}] * 6), "y": LABELS}, r"set\.npz .*plain arrays"),
        ({"x": PIXELS[:, :, :6], "y": LABELS}, "6x8.*--size 8"),
        ({"x": PIXELS[:, :6, :6], "y": LABELS}, "6x6.*8x8.*--size 8"),
    ],
)
def test_arrays_that_cant_be_used_say_why(write, arrays, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        load_source(write(**arrays))
    assert "\n" not in str(caught.value)


def test_whole_floats_and_columns_are_labels_too(write):
    assert load_source(write(x=PIXELS, y=LABELS[:, None].astype(float))).class_names == ("0", "1")


def test_a_damaged_file_is_refused(write):
    path = write(x=PIXELS, y=LABELS)
    whole = path.read_bytes()
    for content in (whole[:200], b"", b"hello", whole.replace(PIXELS.tobytes(), PIXELS.tobytes()[::-1])):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"set\.npz .*\.npz \(.*\); .*again"):
            load_source(path)
