"""Test images that are training images too, on which a network shows what it remembers, not what it learned.

An image is near another if the root mean square difference of their pixels is at most 4/255: a copy that was
saved again in good quality, or with a little noise. Mirrored, cut or recoloured copies are not found.
"""

from math import prod
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lqm.images.sources.labelled import value_range
from lqm.images.sources.source import ImageSource
from lqm.utils.cache import Packed, kept
from lqm.utils.errors import DataError
from lqm.utils.log import warn
from lqm.utils.pixels import pixels
from lqm.utils.sentences import counted
from lqm.utils.stored_arrays import Part, Records, chunks

NEAR = 4 / 255
# Pairs of images from which on the result is kept, and those that are compared for near ones at most.
_WORTH_KEEPING, _MOST_PAIRS = 10**7, 2 * 10**10
# Values of pixels, test images, and training images by their thumbnails, that are compared at a time.
_VALUES, _QUERIES, _WINDOW = 1 << 19, 256, 4096
# Training images whose thumbnails are in memory at once.
_BLOCK = 1 << 19
# Values of pixels that are compared at most: thumbnails can be made that tell no image from another.
_MOST_VALUES = 4 * 10**9


class Overlap(NamedTuple):
    """Of how many test images an equal training image was found, and of how many others a near one."""

    equal: int
    near: int


def compare_parts(source: ImageSource) -> tuple[str, ...]:
    """Refuse a source whose test set or whose pixels tell nothing; else warn of what its parts share."""
    name, train, test = source.name, source.train.images, source.test.images
    for part, images in (("training", train), ("test", test)):
        low, high = value_range(images)
        if low == high:
            raise DataError(f"all pixels of all {part} images of '{name}' have the value {low}; give images")
    equal, near = _overlap(source)
    if equal == len(test):
        raise DataError(
            f"all {equal:,} test images of '{name}' are training images too; give a test set of other images"
        )
    notes = []
    if equal:
        these = counted(equal, "is a training image too", "are training images too")
        notes.append(f"of the {len(test):,} test images of '{name}' {these}; scores will flatter")
    if near:
        these = counted(near, "is a near copy", "are near copies")
        notes.append(
            f"of the {len(test):,} test images of '{name}' {these} of a training image (pixels differ by "
            "4/255 or less, root mean square); scores may flatter"
        )
    for note in notes:
        warn(note)
    return tuple(notes)


def overlap(train: Records, test: Records) -> Overlap:
    """Count the test images, [M, C, H, W], that are equal to or near a training image of [N, C, H, W].

    Equal ones are found by a hash. Near ones are looked for among the rest by thumbnails of averages, whose
    distance is never above that of the images, and only where the means are near; with so many pairs that
    this takes long, among evenly chosen test images, and until so many images that have near thumbnails were
    compared that this has taken long.
    """
    rest = torch.from_numpy(np.flatnonzero(~np.isin(_hashes(test), _hashes(train))))
    step = max(1, -(-len(train) * len(rest) // _MOST_PAIRS))
    queried = Part(test, rest[::step])
    return Overlap(len(test) - len(rest), _count_near(train, queried) if len(rest) else 0)


def _overlap(source: ImageSource) -> Overlap:
    train, test = source.train.images, source.test.images
    if len(train) * len(test) < _WORTH_KEEPING:
        return overlap(train, test)
    return kept(
        "overlaps",
        source.fingerprint[:32],
        lambda: overlap(train, test),
        pack=lambda made: Packed({"counts": torch.tensor(made)}, {}),
        unpack=lambda packed: Overlap(*packed.tensors["counts"].tolist()),
    )


def _hashes(images: Records) -> NDArray[np.int64]:
    rows = (row for part in chunks(images) for row in part.contiguous().numpy())
    return np.fromiter((hash(row.tobytes()) for row in rows), np.int64, len(images))


def _count_near(train: Records, test: Records) -> int:
    """How many test images are near a training image; of many, one block after the other."""
    queries, left = _thumbnails(test), torch.arange(len(test))
    room = _MOST_VALUES // prod(train.shape[1:])
    for places in torch.arange(len(train)).split(_BLOCK):
        if not len(left):
            break
        found, room = _near(Part(train, places), Part(test, left), queries[left], room)
        left = left[~found]
    return len(test) - len(left)


def _near(train: Part, test: Part, queries: Tensor, room: int) -> tuple[Tensor, int]:
    """Which test images are near a training image, [M], and how many more pairs may be compared.

    Args:
        train: training images.
        test: test images.
        queries: the thumbnails of the latter.
        room: how many pairs may be compared.
    """
    real, near = _thumbnails(train), torch.zeros(len(test), dtype=torch.bool)
    # |thumbnail difference|^2 <= values * NEAR^2, and so is the square of the difference of any projection.
    bound = NEAR * (prod(train.shape[1:]) ** 0.5)
    along = torch.ones(real.shape[1]) / real.shape[1] ** 0.5
    keys, order = (real @ along).sort()
    query_keys, query_order = (queries @ along).sort()
    for start in range(0, len(test), _QUERIES):
        chosen = query_order[start : start + _QUERIES]
        ends = query_keys[[start, start + len(chosen) - 1]] + torch.tensor([-bound, bound])
        first, last = torch.searchsorted(keys, ends).tolist()
        for window in order[first : last + 1].split(_WINDOW):
            if not (len(window) and len(chosen) and room):
                break
            apart = torch.cdist(queries[chosen], real[window])
            found, compared = _found(train, test, chosen, window, apart <= bound * 1.001 + 1e-3, apart, room)
            near[chosen[found]], room = True, room - compared
            chosen = chosen[~found]
    return near, room


def _found(
    train: Part, test: Part, queries: Tensor, places: Tensor, candidates: Tensor, apart: Tensor, most: int
) -> tuple[Tensor, int]:
    """Which of these test images are near one of these training images, and how many pairs were compared.

    That with the nearest thumbnail comes first and is nearly always enough: in a set of images that are all
    near each other, every pair would be a candidate.

    Args:
        train: all training images.
        test: all test images.
        queries: the places of the test images, [Q].
        places: the places of the training images, [P].
        candidates: the pairs whose thumbnails are near, [Q, P].
        apart: the distances of the thumbnails, [Q, P].
        most: how many pairs may be compared.
    """
    found, compared = torch.zeros(len(queries), dtype=torch.bool), 0
    nearest = torch.zeros_like(candidates).scatter_(1, apart.argmin(dim=1, keepdim=True), True)
    for tried in (nearest, ~nearest):
        rows, columns = (candidates & tried & ~found[:, None]).nonzero()[: most - compared].T
        found[rows[_are_near(train, test, places[columns], queries[rows])]] = True
        compared += len(rows)
    return found, compared


def _are_near(train: Part, test: Part, places: Tensor, queries: Tensor) -> Tensor:
    """Which of these pairs are near indeed, by all their pixels."""
    near = torch.empty(len(queries), dtype=torch.bool)
    at_a_time = _at_a_time(train)
    for some, others, place in zip(*(part.split(at_a_time) for part in (queries, places, near)), strict=True):
        apart = (pixels(test[some]) - pixels(train[others])).square_().flatten(1).mean(dim=1)
        place.copy_(apart.sqrt() <= NEAR)
    return near


def _thumbnails(images: Records) -> Tensor:
    """Sums over cells of each channel, scaled so that distances never grow, [N, C * cells * cells]."""
    _, channels, height, width = images.shape
    # With fewer pixels a cell, thumbnails would take more memory than small images do.
    cells = min(4 if channels > 2 else 7, height // 4, width // 4)
    rows, columns = height // cells, width // cells
    joined = torch.eye(cells).repeat_interleave(columns, dim=0) / (rows * columns) ** 0.5
    at_a_time = _at_a_time(images)
    made = torch.empty(len(images), channels * cells**2)
    for part, place in zip(images.split(at_a_time), made.split(at_a_time), strict=True):
        sums = pixels(part[:, :, : rows * cells, : columns * cells]) @ joined
        place.copy_(sums.unflatten(2, (cells, rows)).sum(dim=3).flatten(1))
    return made


def _at_a_time(images: Records) -> int:
    return max(1, _VALUES // prod(images.shape[1:]))
