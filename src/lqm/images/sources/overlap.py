"""Test images that are training images too, on which a network shows what it remembers, not what it learned.

An image is near another if the root mean square difference of their pixels is at most 4/255: a copy that was
saved again in good quality, or with a little noise. Mirrored, cut or recoloured copies are not found.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from lqm.images.sources.source import ImageSource
from lqm.utils.cache import Packed, kept
from lqm.utils.errors import DataError
from lqm.utils.log import warn
from lqm.utils.pixels import pixels
from lqm.utils.sentences import counted

NEAR = 4 / 255
# Pairs of images from which on the result is kept, and those that are compared for near ones at most.
_WORTH_KEEPING, _MOST_PAIRS = 10**7, 2 * 10**10
# Values of pixels, and test images, that are compared at a time.
_VALUES, _QUERIES = 1 << 22, 256


class Overlap(NamedTuple):
    """Of how many test images an equal training image was found, and of how many others a near one."""

    equal: int
    near: int


def compare_parts(source: ImageSource) -> tuple[str, ...]:
    """Refuse a source whose test set or whose pixels tell nothing; else warn of what its parts share."""
    name, train, test = source.name, source.train.images, source.test.images
    for part, images in (("training", train), ("test", test)):
        if images.min() == images.max():
            raise DataError(
                f"all pixels of all {part} images of '{name}' have the value {images.min()}; give images"
            )
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


def overlap(train: Tensor, test: Tensor) -> Overlap:
    """Count the test images, [M, C, H, W], that are equal to or near a training image of [N, C, H, W].

    Equal ones are found by a hash. Near ones are looked for among the rest by thumbnails of averages, whose
    distance is never above that of the images, and only where the means are near; with so many pairs that
    this takes long, among evenly chosen test images.
    """
    known = set(_hashes(train))
    rest = torch.tensor([place for place, value in enumerate(_hashes(test)) if value not in known])
    step = max(1, -(-len(train) * len(rest) // _MOST_PAIRS))
    return Overlap(len(test) - len(rest), _count_near(train, test[rest[::step]]) if len(rest) else 0)


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


def _hashes(images: Tensor) -> list[int]:
    rows = images.contiguous().numpy().reshape(len(images), -1)
    return [hash(row.tobytes()) for row in rows]


def _count_near(train: Tensor, test: Tensor) -> int:
    """How many test images are near a training image."""
    real, queries = _thumbnails(train), _thumbnails(test)
    # |thumbnail difference|^2 <= values * NEAR^2, and so is the square of the difference of any projection.
    bound = NEAR * (train[0].numel() ** 0.5)
    along = torch.ones(real.shape[1]) / real.shape[1] ** 0.5
    keys, order = (real @ along).sort()
    query_keys, query_order = (queries @ along).sort()
    near = 0
    for start in range(0, len(test), _QUERIES):
        chosen = query_order[start : start + _QUERIES]
        ends = query_keys[[start, start + len(chosen) - 1]] + torch.tensor([-bound, bound])
        first, last = torch.searchsorted(keys, ends).tolist()
        window = order[first : last + 1]
        apart = torch.cdist(queries[chosen], real[window]) if len(window) else torch.ones(len(chosen), 0)
        rows, columns = (apart <= bound * 1.001 + 1e-3).nonzero().T
        near += _confirmed(train, test, window[columns], chosen[rows])
    return near


def _confirmed(train: Tensor, test: Tensor, places: Tensor, queries: Tensor) -> int:
    """How many different test images of these pairs are near indeed, by all their pixels."""
    found: list[Tensor] = []
    at_a_time = _at_a_time(train)
    for some, others in zip(queries.split(at_a_time), places.split(at_a_time), strict=True):
        apart = (pixels(test[some]) - pixels(train[others])).square().flatten(1).mean(dim=1).sqrt()
        found.append(some[apart <= NEAR])
    return len(torch.cat(found).unique()) if found else 0


def _thumbnails(images: Tensor) -> Tensor:
    """Sums over cells of each channel, scaled so that distances never grow, [N, C * cells * cells]."""
    _, channels, height, width = images.shape
    cells = 4 if channels > 2 else 7
    rows, columns = height // cells, width // cells
    joined = torch.eye(cells).repeat_interleave(columns, dim=0) / (rows * columns) ** 0.5
    parts = []
    for part in images[:, :, : rows * cells, : columns * cells].split(_at_a_time(images)):
        sums = pixels(part) @ joined
        parts.append(sums.unflatten(2, (cells, rows)).sum(dim=3).flatten(1))
    return torch.cat(parts)


def _at_a_time(images: Tensor) -> int:
    return max(1, _VALUES // images[0].numel())
