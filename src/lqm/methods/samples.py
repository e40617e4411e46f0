"""Samples of classes that are too large to look at whole: the records of the smallest hashes.

Of records that are divided in any way, in any order, the sample of the whole is the sample of the samples of
its parts, so that each part can be sampled where it is.
"""

import numpy as np
import torch
from torch import Tensor

from lqm.engine.randomness import derive

# Records of a class that rules look at; of more, this many are sampled.
LOOKED_AT = 2**15
# SplitMix64 (Steele, Lea & Flood 2014): its step, and the multipliers and shifts of its mixing function.
_STEP, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_SHIFTS = tuple(np.uint64(n) for n in (30, 27))
_LAST = np.uint64(31)


def sample_by_hash(seed: int, ids: Tensor, count: int) -> Tensor:
    """The `count` of distinct ids with the smallest hashes of (seed, id), ascending; all if there are fewer.

    The mixing function is a bijection of 64 bits, so that no two ids have the same hash.

    Example:
        >>> parts = torch.arange(100).split(30)
        >>> shards = torch.cat([sample_by_hash(0, part, 3) for part in parts])
        >>> sample_by_hash(0, shards, 3).equal(sample_by_hash(0, torch.arange(100), 3))
        True
    """
    if len(ids) <= count:
        return ids.sort().values
    smallest = np.argpartition(_hashes(seed, ids), count)[:count]
    return ids[torch.from_numpy(smallest)].sort().values


def looked_at(seed: int, ids: Tensor) -> Tensor:
    """All ids as they are, or a sample of them if they are too many to look at."""
    return ids if len(ids) <= LOOKED_AT else sample_by_hash(seed, ids, LOOKED_AT)


def _hashes(seed: int, ids: Tensor) -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    mixed = ids.numpy().astype(np.uint64) * _STEP + np.uint64(derive(seed, "sample by hash"))
    for shift, factor in zip(_SHIFTS, (_FIRST, _SECOND), strict=True):
        mixed = (mixed ^ (mixed >> shift)) * factor
    return mixed ^ (mixed >> _LAST)
