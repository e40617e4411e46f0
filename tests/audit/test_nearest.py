import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lqm.condensed.mosaic import compose
from lqm.evaluation.audit import nearest
from lqm.evaluation.audit.nearest import Bounds, Rows, View, count_copies, find_nearest, measure_gap
from lqm.images.auditing import AUDITOR
from lqm.images.sources import Images

PIXELS = Bounds(0.5 / 255, 4 / 255, by_largest=True, words="")
LENGTHS = Bounds(1e-4, 0.3, by_largest=False, words="")


def rows(values):
    return Rows(len(values), values.__getitem__)


def view(own, train, held_out):
    return View("x", own, rows(train), rows(held_out), 1.0, torch.arange(len(own))[:, None])


@given(st.integers(0, 10_000), st.sampled_from([PIXELS, LENGTHS]))
def test_neighbours_and_least_differences_are_those_of_a_naive_loop(seed, bounds):
    draws = torch.Generator().manual_seed(seed)
    own, real = torch.rand(5, 6, generator=draws), torch.rand(9, 6, generator=draws)
    own[0], own[1] = real[3], real[4] + 3 / 255
    found = find_nearest(own, rows(real), bounds)
    for i, record in enumerate(own):
        distances = sorted(
            (float((record.double() - other.double()).norm()), j) for j, other in enumerate(real)
        )
        assert found.first[i].item() == pytest.approx(distances[0][0], abs=1e-6)
        assert found.second[i].item() == pytest.approx(distances[1][0], abs=1e-6)
        assert found.place[i] == distances[0][1]
        sizes = [
            (record - other).abs().max() if bounds.by_largest else (record - other).norm() for other in real
        ]
        if min(sizes) <= bounds.near:
            assert found.least[i].item() == pytest.approx(float(min(sizes)), abs=1e-6)
        else:
            assert found.least[i] > bounds.near


def test_real_records_may_come_in_many_chunks(monkeypatch):
    own, real = torch.rand(4, 6), torch.rand(50, 6)
    whole = find_nearest(own, rows(real), PIXELS)
    monkeypatch.setattr(nearest, "_CHUNK", 18)
    for one, other in zip(whole, find_nearest(own, rows(real), PIXELS), strict=True):
        assert torch.equal(one, other)


def test_copies_are_counted_and_held_out_records_beside_them():
    train, held_out = torch.rand(200, 64), torch.rand(150, 64)
    own = torch.rand(10, 64)
    own[:3] = train[:3]
    own[3:7] = (train[3:7] + 3 / 255).clamp(0, 1)
    found = count_copies([view(own, train, held_out)], 10, PIXELS)
    assert (found.exact, found.near, found.records) == (3, 7, 10)
    assert found.traceable == 7
    assert found.near_held_out == 0
    assert found.tells
    duplicated = count_copies([view(own, train, train)], 10, PIXELS)
    assert duplicated.near_held_out == 1


def test_a_record_or_two_of_a_set_that_happen_to_be_traceable_do_not_tell():
    train, held_out = torch.rand(200, 64), torch.rand(150, 64)
    own = torch.rand(50, 64)
    own[0] = train[0]
    found = count_copies([view(own, train, held_out)], 50, PIXELS)
    assert (found.traceable, found.traceable_held_out, found.held_out) == (1, 0, 150)
    assert not found.tells
    own[:10] = train[:10]
    assert count_copies([view(own, train, held_out)], 50, PIXELS).tells


def test_held_out_records_count_by_any_view_as_those_of_the_set_do():
    """Each record, of the set and held-out, is a copy by one of two views: the shares are equal."""
    train, apart = torch.rand(100, 64), torch.rand(100, 64) + 5
    even = (torch.arange(100) % 2 == 0)[:, None]
    views = [
        view(own, train, own) for own in (torch.where(even, train, apart), torch.where(even, apart, train))
    ]
    found = count_copies(views, 100, PIXELS)
    assert (found.near, found.near_held_out) == (100, 1)
    assert (found.traceable, found.traceable_held_out) == (100, 1)
    assert not found.tells


def test_the_cells_of_mosaics_are_compared_with_real_images_made_small(digits):
    chosen = (
        digits.train.images[:8].float() / 255
        if digits.train.images.dtype == torch.uint8
        else digits.train.images[:8]
    )
    mosaics = compose(chosen, 2)
    found = count_copies(
        AUDITOR.views(Images(mosaics, torch.zeros(2)), {"mosaic": 2}, digits), 8, AUDITOR.bounds
    )
    assert (found.records, found.exact) == (8, 8)
    # A mosaic that is one whole image gives it away in its four cells.
    whole = count_copies(
        AUDITOR.views(Images(chosen[:2], torch.zeros(2)), {"mosaic": 2}, digits), 8, AUDITOR.bounds
    )
    assert (whole.records, whole.exact) == (8, 8)


def test_a_set_that_owes_nothing_to_training_records_is_within_chance():
    draws = torch.Generator().manual_seed(0)
    told = 0
    for trial in range(60):
        own, train, held_out = (torch.randn(count, 5, generator=draws) for count in (20, 90, 30))
        labels = torch.arange(90) % 2, torch.arange(30) % 2
        told += measure_gap(view(own, train, held_out), *labels, trial).tells
    assert told <= 6


def test_a_set_near_its_training_records_is_told_though_fewer_records_are_held_out():
    train, held_out = torch.randn(300, 5), torch.randn(150, 5)
    labels = torch.arange(300) % 3, torch.arange(150) % 3
    found = measure_gap(view(train[:40] + 0.01, train, held_out), *labels, 0)
    assert found.tells
    assert found.nearer.value == 1
    assert 0 < found.gap.low < found.gap.high < 1
    assert found.train < found.held_out
