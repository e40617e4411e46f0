"""The nearest real images, beside scikit-learn's."""

import numpy as np
import pytest
import torch
from sklearn.neighbors import NearestNeighbors

from lqm.images.nearest import nearest
from lqm.utils.pixels import pixels


def images(count, shape=(1, 8, 8), seed=0, stored=torch.uint8):
    drawn = torch.randint(0, 256, (count, *shape), generator=torch.Generator().manual_seed(seed))
    return drawn.byte() if stored == torch.uint8 else drawn / 255


def oracle(own, real, count):
    """RMS distances and places, in double precision."""
    flat = [pixels(part).double().flatten(1).numpy() for part in (own, real)]
    found = NearestNeighbors(n_neighbors=min(count, len(real)), algorithm="brute").fit(flat[1])
    distances, places = found.kneighbors(flat[0])
    return distances / np.sqrt(flat[0].shape[1]), places


def compare(own, real, count):
    distances, places = oracle(own, real, count)
    found = nearest(own, real, count)
    assert found.distances.shape == found.places.shape == distances.shape
    np.testing.assert_allclose(found.distances.numpy(), distances, rtol=1e-5, atol=1e-6)
    for row, expected, apart in zip(found.places.tolist(), places.tolist(), distances, strict=True):
        assert len({*row}) == len(row)
        lone = [i for i in range(len(apart)) if (np.abs(np.delete(apart, i) - apart[i]) > 1e-6).all()]
        # The last of a row may tie with one that was left out.
        assert [row[i] for i in lone if i < len(row) - 1] == [expected[i] for i in lone if i < len(row) - 1]


@pytest.mark.parametrize("stored", [torch.uint8, torch.float32])
@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 5, 7)])
def test_neighbours_are_scikit_learns(stored, shape):
    compare(images(9, shape, 1, torch.float32), images(60, shape, 2, stored), 4)


@pytest.mark.parametrize("count", [1, 5, 6, 30])
def test_of_fewer_real_images_than_were_asked_for_there_are_all(count):
    compare(images(3, seed=1, stored=torch.float32), images(5, seed=2), count)


def test_more_real_images_than_are_compared_at_once_have_the_same_neighbours():
    real = images(140_000, seed=2)
    own = torch.cat([pixels(real[[0, 70_000, -1]]), images(3, seed=1, stored=torch.float32)])
    compare(own, real, 3)
    assert nearest(own[:3], real, 1).places.flatten().tolist() == [0, 70_000, 139_999]


@pytest.mark.parametrize("stored", [torch.uint8, torch.float32])
def test_an_exact_copy_is_at_distance_0_and_comes_first(stored):
    real = images(40, (3, 16, 16), stored=stored)
    found = nearest(pixels(real[[7, 31]]), real, 2)
    assert found.places[:, 0].tolist() == [7, 31]
    assert found.distances[:, 0].tolist() == [0, 0]
    assert (found.distances[:, 1] > 0.1).all()


def test_of_equal_real_images_each_is_named_once():
    real = images(1).expand(30, -1, -1, -1)
    found = nearest(pixels(real[:2]), real, 3)
    assert found.distances.eq(0).all()
    assert all(len({*row}) == 3 for row in found.places.tolist())


def test_black_and_white_are_at_distance_1():
    found = nearest(torch.ones(1, 3, 4, 4), torch.zeros(2, 3, 4, 4, dtype=torch.uint8), 1)
    assert found.distances.item() == 1


@pytest.mark.parametrize("bright", [False, True])
def test_large_images_that_are_almost_equal_are_told_apart(bright):
    """Frames of one scene: their squared lengths are 10^9 times the squared distances between them."""
    scene = images(1, (3, 96, 96), seed=3)[0] if not bright else torch.full((3, 96, 96), 250).byte()
    real = scene.repeat(200, 1, 1, 1)
    order = torch.randperm(200, generator=torch.Generator().manual_seed(4))
    for changed, place in enumerate(order.tolist()):
        flat = real[place].view(-1)
        flat[:changed] = torch.where(flat[:changed] < 128, flat[:changed] + 1, flat[:changed] - 1)
    found = nearest(pixels(scene)[None], real, 3)
    assert found.places[0].tolist() == order[:3].tolist()
    expected = np.sqrt(np.arange(3) / scene.numel()) / 255
    np.testing.assert_allclose(found.distances[0].numpy(), expected, rtol=1e-4, atol=1e-9)
