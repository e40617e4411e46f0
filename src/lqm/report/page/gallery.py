"""The condensed pictures, and the real ones that each resembles most."""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from io import BytesIO
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from lqm.condensed import CondensedPictures
from lqm.condensed.mosaic import expand
from lqm.condensed.sheet import as_colours, as_png
from lqm.images.nearest import nearest
from lqm.images.sources import ImageSource
from lqm.pixels import pixels

Content = dict[str, Any]

# Pixels of all pictures on a page: 2,600 of CIFAR's size, neighbours and cells of mosaics included.
_PIXELS = 2600 * 32 * 32
_NEIGHBOURS, _NEIGHBOURS_OF_A_CELL = 3, 2


def gallery(sets: Sequence[CondensedPictures], source: ImageSource | None) -> Content:
    """Pictures by set and class, as many as a page holds, and the real pictures that are nearest.

    A record is a picture, or a cell of it if it is a mosaic. `real` holds each real picture once; what a
    record's neighbours are is said by their place in it.
    """
    factors = [small.manifest.get("mosaic", 1) for small in sets]
    shown = _shown(sets, factors)
    chosen = [_first(small, shown) for small in sets]
    cells = [expand(torch.cat(own), factor) for own, factor in zip(chosen, factors, strict=True)]
    near, real = _neighbours(torch.cat(cells), _neighbours_each(factors), source)
    return {
        "shown": shown,
        "cut": any(small.manifest["per_class"] > shown for small in sets),
        "side": sets[0].images.shape[-1],
        "sets": [
            [[_tile(picture, factor, near) for picture in own] for own in classes]
            for classes, factor in zip(chosen, factors, strict=True)
        ],
        "real": real,
    }


def _neighbours_each(factors: Sequence[int]) -> int:
    return _NEIGHBOURS if max(factors) == 1 else _NEIGHBOURS_OF_A_CELL


def _shown(sets: Sequence[CondensedPictures], factors: Sequence[int]) -> int:
    """Pictures of each class that are shown, at least one."""
    near = _neighbours_each(factors)
    pictures = sum(1 + (f**2 * (1 + near) if f > 1 else near) for f in factors) * len(sets[0].class_names)
    return max(1, _PIXELS // (sets[0].images[0, 0].numel() * pictures))


def _first(small: CondensedPictures, count: int) -> list[Tensor]:
    """The first pictures of each class."""
    return [small.images[small.labels == label][:count] for label in range(len(small.class_names))]


def _neighbours(
    cells: Tensor, count: int, source: ImageSource | None
) -> tuple[Iterator[list[Content]], list[Content]]:
    """The neighbours of each cell in turn, and the real pictures among them; none without a source."""
    if source is None:
        return iter([[] for _ in cells]), []
    found = nearest(cells, source.train.images, count)
    indices = found.places.unique()
    real = [
        {
            "picture": as_uri(pixels(source.train.images[index])),
            "label": int(source.train.labels[index]),
            "index": int(index),
        }
        for index in indices
    ]
    places = torch.searchsorted(indices, found.places.contiguous()).tolist()
    rows = zip(places, found.distances.tolist(), strict=True)
    return (
        [{"real": place, "distance": distance} for place, distance in zip(*row, strict=True)] for row in rows
    ), real


def _tile(picture: Tensor, factor: int, near: Iterator[list[Content]]) -> Content:
    """A picture, and its records with their neighbours, which are the next ones."""
    cells = [as_uri(cell) for cell in expand(picture[None], factor)] if factor > 1 else [None]
    return {"picture": as_uri(picture), "records": [{"cell": cell, "nearest": next(near)} for cell in cells]}


def as_uri(picture: Tensor) -> str:
    """A picture in the text of a page: WebP without loss, a fifth smaller than PNG.

    Of channels that are neither grey nor colours (and opacity), the first ones are shown.
    """
    whole = len(picture) in (1, 3, 4)
    image = Image.open(BytesIO(as_png(picture))) if whole else as_colours(picture)
    buffer = BytesIO()
    image.save(buffer, "WEBP", lossless=True, exact=True)
    return "data:image/webp;base64," + b64encode(buffer.getvalue()).decode()
