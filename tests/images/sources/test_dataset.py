import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, TensorDataset

from lqm.images.sources import from_dataset
from lqm.utils.errors import ConfigError, DataError

LABELS = [0, 1, 0, 1, 0, 1]


class Items(Dataset):
    def __init__(self, images, labels=LABELS, classes=None):
        self.items = list(zip(images, labels, strict=True))
        if classes:
            self.classes = classes

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


PIXELS, OTHERS = torch.randint(
    0, 256, (2, 6, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0)
)


def test_a_tensor_dataset_and_its_test_set_are_kept():
    train, test = TensorDataset(PIXELS, torch.tensor(LABELS)), TensorDataset(OTHERS[:2], torch.tensor([0, 1]))
    source = from_dataset(train, test, name="mine", augmentation=("crop",))
    assert torch.equal(source.train.images, PIXELS)
    assert torch.equal(source.test.images, OTHERS[:2])
    assert source.train.labels.tolist() == LABELS
    assert (source.name, source.class_names) == ("mine", ("0", "1"))
    assert (source.augmentation, source.recipes, source.origin) == (("crop",), "own", None)
    with pytest.raises(ConfigError, match=r"'mine'.*test set"):
        from_dataset(train, test, name="mine", test_fraction=0.5)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (lambda p: p, PIXELS),
        (lambda p: p.numpy(), PIXELS),
        (lambda p: p.double() / 255, PIXELS / 255),
        (lambda p: Image.fromarray(p.numpy().transpose(1, 2, 0)), PIXELS),
        (lambda p: p[0], PIXELS[:, :1]),
        (lambda p: Image.fromarray(p[0].numpy()), PIXELS[:, :1]),
    ],
    ids=["tensor", "array", "floats", "pillow", "flat", "grey pillow"],
)
def test_all_kinds_of_images_are_taken(image, expected):
    source = from_dataset(Items([image(p) for p in PIXELS]), Items([image(p) for p in OTHERS]))
    torch.testing.assert_close(source.train.images, expected, check_dtype=False)


def test_a_share_is_held_out_without_a_test_set():
    source = from_dataset(Items(PIXELS), test_fraction=0.4)
    assert torch.bincount(source.test.labels).tolist() == [1, 1]
    assert torch.bincount(from_dataset(Items(PIXELS)).train.labels).tolist() == [2, 2]


def test_names_of_classes_are_given_or_the_datasets_or_numbers():
    named = Items(PIXELS, classes=["cat", "dog"])
    assert from_dataset(named).class_names == ("cat", "dog")
    assert from_dataset(named, class_names=["a", "b"]).class_names == ("a", "b")


def test_labels_may_be_any_whole_numbers():
    labels = [0, np.int64(1), torch.tensor(0), 1, np.uint8(0), torch.tensor(1)]
    assert from_dataset(Items(PIXELS, labels), Items(OTHERS, labels)).train.labels.tolist() == LABELS


def test_grey_and_colour_images_become_colour():
    images = [Image.new("L", (8, 8), grey) for grey in range(5)] + [Image.new("RGB", (8, 8), (7, 7, 7))]
    assert from_dataset(Items(images)).shape == (3, 8, 8)


def replaced(index, image):
    return [*PIXELS[:index], image, *PIXELS[index + 1 :]]


class NoPairs(Items):
    def __getitem__(self, index):
        return {"image": PIXELS[index]} if index == 2 else self.items[index]


class Endless(IterableDataset):
    def __iter__(self):
        yield from ()


@pytest.mark.parametrize(
    ("dataset", "sentence"),
    [
        (NoPairs(PIXELS), r"item 2 .*'dataset'.*\bdict\b.*pair"),
        (Items(PIXELS, [b"a"] * 6), "item 0 .*b'a'.*whole number"),
        (Items(PIXELS, ["a", 1] * 3), "labels of 'dataset' is 1;.*texts"),
        (Items(PIXELS, [0.5] * 6), r"item 0 .*\b0\.5\b"),
        (Items(replaced(3, "text")), r"item 3 .*\bstr\b.*tensor"),
        (Items(replaced(0, PIXELS[:1])), r"item 0 .*\[1, 3, 8, 8\].*\[C, H, W\]"),
        (Items(replaced(4, PIXELS[0].long())), "item 4 .*int64.*uint8, or floats"),
        (Items(replaced(4, PIXELS[0] / 255)), "item 0 .*uint8.*item 4 .*float32"),
        (Items(list(PIXELS / 127.5 - 1)), "item 0 .*-.*not normalised"),
        (Items(replaced(5, PIXELS[0, :, :, :6])), "item 0 .*8x8.*item 5 .*6x8.*resize"),
        (Items(replaced(5, PIXELS[0, :2])), r"item 0 .*\b3 channels.*item 5 .*\b2\b"),
        (Items(replaced(1, Image.new("I;16", (8, 8)))), "item 1 .*more than 8 bits"),
        (Items(list(PIXELS[..., :6])), "item 0 .*6x8.*square.*resize"),
        (Items(PIXELS, [0, 2, 0, 2, 0, 2], classes=["a", "b", "c"]), r"leave out 1;.*0 to 1\b"),
        (Items(PIXELS, [0] * 6), "one class"),
        (Items(PIXELS, [-1] * 6), r"one class, '-1'"),
        (Items(PIXELS, classes=["a", "b", "c"]), "3 class names.*2 classes"),
        (Items([], []), "'dataset'.*empty"),
        (Endless(), "'dataset'.*length.*map-style"),
    ],
)
def test_items_that_cant_be_used_say_which_and_why(dataset, sentence):
    with pytest.raises(DataError, match=sentence) as caught:
        from_dataset(dataset, show_progress=False)
    assert "\n" not in str(caught.value)
