"""Samples by hash: the same however the records are divided, and every record as likely as another."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from lqm.methods import samples
from lqm.methods.samples import looked_at, sample_by_hash

IDS = st.lists(st.integers(0, 2**62), unique=True, max_size=60)


@given(IDS, st.integers(0, 2**31), st.integers(1, 20), st.data())
def test_the_sample_of_any_parts_in_any_order_is_that_of_the_whole(ids, seed, count, data):
    order = data.draw(st.permutations(ids))
    ends = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=5)))
    parts = torch.tensor(order, dtype=torch.int64).tensor_split(ends)
    joined = torch.cat([sample_by_hash(seed, part, count) for part in parts])
    whole = sample_by_hash(seed, torch.tensor(ids, dtype=torch.int64), count)
    assert sample_by_hash(seed, joined, count).equal(whole)
    assert len(whole) == min(count, len(ids))
    assert set(whole.tolist()) <= set(ids)


def test_every_record_is_drawn_equally_often_and_seeds_are_independent():
    drawn = np.stack(
        [np.isin(np.arange(40), sample_by_hash(seed, torch.arange(40), 10)) for seed in range(2000)]
    )
    share = drawn.mean(axis=0)
    assert abs(share - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 2000)
    both = (drawn[:, 0] & drawn[:, 1]).mean()
    assert abs(both - 10 * 9 / (40 * 39)) < 5 * np.sqrt(0.06 / 2000)


def test_hashes_of_neighbours_are_distinct_and_spread():
    hashes = samples._hashes(0, torch.arange(100_000))
    assert len(np.unique(hashes)) == 100_000
    quarters = np.bincount((hashes >> np.uint64(62)).astype(np.int64), minlength=4)
    assert abs(quarters - 25_000).max() < 5 * np.sqrt(100_000 * 0.25 * 0.75)


def test_a_class_that_can_be_looked_at_is_looked_at_whole_and_in_its_order(monkeypatch):
    ids = torch.tensor([5, 3, 9])
    assert looked_at(0, ids) is ids
    monkeypatch.setattr(samples, "LOOKED_AT", 2)
    assert looked_at(0, ids).equal(sample_by_hash(0, ids, 2))
