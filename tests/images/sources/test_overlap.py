"""What the training and the test set share, against a comparison of every pair."""

import io
import time

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import TensorDataset

from lqm.images.sources import from_dataset, load_source, overlap
from lqm.utils.errors import DataError
from tests.peaks import memory_grows_by_at_most

LABELS = torch.tensor([0, 1] * 20)


@pytest.fixture
def photos():
    """40 smooth colour images, so that neighbouring pixels are alike, and 40 others."""
    generator = torch.Generator().manual_seed(0)
    coarse = torch.rand(80, 3, 4, 4, generator=generator)
    smooth = torch.nn.functional.interpolate(coarse, size=32, mode="bilinear")
    return (smooth * 255).byte().split(40)


def load(train, test, labels=LABELS):
    return from_dataset(
        TensorDataset(train, labels), TensorDataset(test, labels), name="mine", show_progress=False
    )


def saved_again(image, **options):
    file = io.BytesIO()
    Image.fromarray(image.permute(1, 2, 0).numpy()).save(file, **options)
    return torch.from_numpy(np.array(Image.open(file))).permute(2, 0, 1)


def test_other_images_are_worth_no_word(photos, capsys):
    assert load(*photos).notes == ()
    assert capsys.readouterr().err == ""


def test_the_same_images_are_refused_in_any_order_and_with_any_labels(photos):
    train, _ = photos
    for test in (train, train.flip(0), train[:1].expand(40, -1, -1, -1)):
        with pytest.raises(DataError, match=r"all 40 test images of 'mine' .*training images too"):
            load(train, test)


def test_a_file_whose_test_set_is_its_training_set_is_refused(tmp_path, photos):
    train = photos[0].numpy()
    np.savez(tmp_path / "a.npz", train_x=train, train_y=LABELS, test_x=train, test_y=LABELS)
    with pytest.raises(DataError, match="training images too"):
        load_source(tmp_path / "a.npz")


def test_some_equal_images_are_counted(photos, capsys):
    train, test = photos
    (note,) = load(train, torch.cat([train[:7], test[7:]])).notes
    assert "of the 40 test images of 'mine' 7 are" in note
    assert note in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda image: saved_again(image, format="JPEG", quality=95),
        lambda image: (image.int() + 3).clamp(0, 255).byte(),
        lambda image: image ^ 1,
    ],
    ids=["saved again", "brighter", "last bit"],
)
def test_near_copies_are_counted(photos, change, capsys):
    train, test = photos
    copies = torch.stack([change(image) for image in train[5:10]])
    (note,) = load(train, torch.cat([copies, test[5:]])).notes
    assert "5 are near copies" in note
    assert note in capsys.readouterr().err


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 9), (1, 28, 28), (3, 33, 33)])
@pytest.mark.parametrize("floats", [False, True])
def test_all_pairs_by_pair_find_the_same(shape, floats):
    generator = torch.Generator().manual_seed(1)
    train = torch.rand(300, *shape, generator=generator) * 0.5
    noise = torch.randn(200, *shape, generator=generator) * torch.linspace(0, 0.04, 200).view(-1, 1, 1, 1)
    test = (train[:200] + noise).clamp(0, 1)
    train, test = (part if floats else (part * 255).round().byte() for part in (train, test))
    plain = [part if floats else part.float() / 255 for part in (train, test)]
    squares = ((plain[0] - image).square().flatten(1).mean(dim=1).min() for image in plain[1])
    distances = torch.stack([*squares]).sqrt()
    equal = int((distances == 0).sum())
    near = int((distances <= 4 / 255).sum()) - equal
    assert 0 < near < 200
    assert overlap.overlap(train, test) == (equal, near)


def test_constant_images_are_refused(photos):
    train, test = photos
    for value in (0, 255):
        with pytest.raises(DataError, match=rf"all pixels of all training images .*\b{value}\b"):
            load(torch.full_like(train, value), test)
        with pytest.raises(DataError, match="all pixels of all test images"):
            load(train, torch.full_like(test, value))


def test_a_large_comparison_is_made_once(photos, monkeypatch, kept, capsys):
    train, test = photos
    monkeypatch.setattr(overlap, "_WORTH_KEEPING", 100)
    first = load(train, torch.cat([train[:7], test[7:]])).notes
    monkeypatch.setattr(overlap, "overlap", None)
    assert load(train, torch.cat([train[:7], test[7:]])).notes == first
    assert capsys.readouterr().err.count("training images too") == 2
    assert len(kept()) == 1


def nearly_equal_images(count):
    """Images that differ from each other, each by a little, so that every pair is a pair of near ones."""
    images = np.zeros((count, 8, 8), np.uint8)
    for column in range(7):
        images[:, 0, column] = np.arange(count) // 7**column % 7
    return torch.from_numpy(images[:, None])


def test_images_that_are_all_near_each_other_take_little_time_and_memory():
    images = nearly_equal_images(60_000)
    began = time.monotonic()
    with memory_grows_by_at_most(2**27):
        assert overlap.overlap(images[:-2_000], images[-2_000:]) == (0, 2_000)
    assert time.monotonic() - began < 10


def test_thumbnails_that_tell_nothing_do_not_make_all_pairs_be_compared(monkeypatch):
    images = torch.randint(0, 256, (900, 1, 16, 16), generator=torch.Generator().manual_seed(0)).byte()
    compared = []
    are_near = overlap._are_near
    monkeypatch.setattr(overlap, "_thumbnails", lambda images: torch.zeros(len(images), 16))
    monkeypatch.setattr(overlap, "_MOST_VALUES", 1000 * 256)
    monkeypatch.setattr(overlap, "_are_near", lambda *of: compared.append(len(of[2])) or are_near(*of))
    assert overlap.overlap(images[:600], images[600:]) == (0, 0)
    assert sum(compared) <= 1000


def test_test_images_far_from_all_training_images_are_near_none():
    train, test = torch.zeros(5, 1, 8, 8), torch.ones(3, 1, 8, 8)
    assert overlap.overlap(train, test) == (0, 0)
