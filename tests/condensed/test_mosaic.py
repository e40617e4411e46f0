import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.condensed import CondensedImages, load
from lqm.condensed.mosaic import compose, expand

IMAGES = torch.rand(8, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def test_a_cell_of_a_2x2_mosaic_is_the_mean_of_2x2_pixels_at_its_place():
    mosaics = compose(IMAGES, 2)
    assert mosaics.shape == (2, 3, 32, 32)
    places = [(0, 0), (0, 16), (16, 0), (16, 16)]
    for number, (row, column) in enumerate(places):
        cell = mosaics[1, :, row : row + 16, column : column + 16]
        torch.testing.assert_close(cell, F.avg_pool2d(IMAGES[4 + number], 2))


def test_a_cell_is_stretched_to_the_whole_size_bilinearly():
    cells = expand(IMAGES[:2], 2)
    assert cells.shape == (8, 3, 32, 32)
    expected = F.interpolate(IMAGES[1:2, :, 16:, :16], scale_factor=2, mode="bilinear", align_corners=False)
    torch.testing.assert_close(cells[4 + 2], expected[0])


def test_flat_images_come_back_as_they_were():
    flat = torch.rand(9, 1, 1, 1).expand(9, 1, 12, 12)
    torch.testing.assert_close(expand(compose(flat, 3), 3), flat)


@pytest.mark.parametrize(("factor", "size"), [(2, 9), (2, 11), (3, 8), (3, 28), (4, 33)])
def test_sizes_that_the_factor_does_not_divide(factor, size):
    flat = torch.arange(2 * factor**2).view(-1, 1, 1, 1).expand(-1, 1, size, size).float()
    mosaics = compose(flat, factor)
    assert mosaics.shape == (2, 1, size, size)
    torch.testing.assert_close(expand(mosaics, factor), flat)


def test_factor_one_changes_nothing():
    assert expand(IMAGES, 1) is IMAGES
    assert compose(IMAGES, 1) is IMAGES


def test_gradients_reach_every_pixel_of_a_mosaic():
    mosaics = torch.rand(1, 1, 9, 9, requires_grad=True)
    expand(mosaics, 2).sum().backward()
    assert (mosaics.grad > 0).all()


def test_a_set_of_mosaics_trains_on_its_cells(tmp_path):
    manifest = {"mosaic": 2, "preprocessing": {"mean": [0.5, 0.5, 0.5], "std": [2.0, 2.0, 2.0]}}
    condensed = CondensedImages(IMAGES[:2], torch.tensor([0, 1]), ("a", "b"), manifest).save(tmp_path / "set")
    images, labels = load(tmp_path / "set").records()
    torch.testing.assert_close(images, expand(IMAGES[:2], 2))
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    fed, targets = condensed.dataset()[:]
    torch.testing.assert_close(fed, (images - 0.5) / 2)
    assert targets.equal(labels)


def test_a_set_without_mosaics_trains_on_its_images():
    condensed = CondensedImages(IMAGES, torch.zeros(8, dtype=torch.int64), ("a",), {})
    assert condensed.records()[0].equal(IMAGES)
