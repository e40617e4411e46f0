"""The condensed images, and the real ones that each resembles most."""

import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.condensed.drawing import as_colours, as_image
from lqm.condensed.mosaic import expand

Content = dict[str, Any]
# By set and class: images, each with its init and the neighbours of its records; and what the page holds.
Images = list[list[list[tuple[Tensor, Tensor | None, list[list[Content]]]]]]
Tiles = list[list[list[Content]]]

# Letters of all images on a page, about; images, or cells of mosaics, whose neighbours are looked for.
_LETTERS, _CELLS = 5_000_000, 2000
_NEIGHBOURS, _NEIGHBOURS_OF_A_CELL = 3, 2
# Pixels above which an image is shown with a slight loss, in a fraction of the letters.
_LARGE = 96 * 96
_WIDEST = 4096


@dataclass(frozen=True)
class RealImages:
    """The training images, among which neighbours of synthetic ones are found.

    Shapes: image(index) [C, H, W] in [0, 1]; nearest of images [M, C, H, W] and a count: distances and
    indices, [M, count] each.
    """

    image: Callable[[int], Tensor]
    label: Callable[[int], int]
    nearest: Callable[[Tensor, int], tuple[Tensor, Tensor]]


def gallery(
    sets: Sequence[CondensedImages], real: RealImages | None, inits: Sequence[Tensor | None] = ()
) -> Content:
    """Images by set and class, as many as a page holds, with their inits and the nearest real images.

    A record is an image, or a cell of it if it is a mosaic. `real` holds each real image once, by its
    place in the training set; so do the inits, which sets of one seed share.
    """
    factors = [condensed.manifest.get("mosaic", 1) for condensed in sets]
    classes = range(len(sets[0].class_names))
    most = max(1, _CELLS // (len(classes) * sum(factor**2 for factor in factors)))
    chosen = [[condensed.images[condensed.labels == label][:most] for label in classes] for condensed in sets]
    first = [
        [None if init is None else init[condensed.labels == label] for label in classes]
        for condensed, init in zip(sets, inits or [None] * len(sets), strict=True)
    ]
    cells = [expand(torch.cat(own), factor) for own, factor in zip(chosen, factors, strict=True)]
    near = _neighbours(torch.cat(cells), _NEIGHBOURS if max(factors) == 1 else _NEIGHBOURS_OF_A_CELL, real)
    images = [
        [
            [
                (image, None if begun is None else begun[place], [next(near) for _ in range(factor**2)])
                for place, image in enumerate(own)
            ]
            for own, begun in zip(by_class, first_by_class, strict=True)
        ]
        for by_class, first_by_class, factor in zip(chosen, first, factors, strict=True)
    ]
    shown = min(most, max(1, _LETTERS // _letters(*_shown(images, 1, real))))
    tiles, nearest = _shown(images, shown, real)
    return {
        "shown": shown,
        "cut": any(condensed.manifest["per_class"] > shown for condensed in sets),
        # Rows of so few images stand in columns, if there are many of them.
        "short": len(sets) == 1 and len(classes) > 20 and min(shown, sets[0].manifest["per_class"]) <= 5,
        # Names that leave too little room for images beside them stand above, where a page is narrow.
        "named": max(map(len, sets[0].class_names)) > 2,
        "side": sets[0].images.shape[-1],
        "sets": tiles,
        "real": nearest,
        "inits": _each_once(tiles),
    }


def _neighbours(cells: Tensor, count: int, real: RealImages | None) -> Iterator[list[Content]]:
    """Of each cell in turn; none without real images."""
    if real is None:
        return ([] for _ in cells)
    distances, places = real.nearest(cells, count)
    rows = zip(places.tolist(), distances.tolist(), strict=True)
    return (
        [{"real": place, "distance": distance} for place, distance in zip(*row, strict=True)] for row in rows
    )


def _shown(images: Images, count: int, real: RealImages | None) -> tuple[Tiles, dict[int, Content]]:
    """The first images of each class of each set, and the real ones that are near to them."""
    tiles = [[[_tile(*image) for image in own[:count]] for own in by_class] for by_class in images]
    every = (tile for by_class in tiles for own in by_class for tile in own)
    records = (record for tile in every for record in tile["records"])
    places = {near["real"] for record in records for near in record["nearest"]}
    if real is None:
        return tiles, {}
    return tiles, {
        place: {"image": as_uri(real.image(place)), "label": real.label(place)} for place in sorted(places)
    }


def _tile(image: Tensor, init: Tensor | None, near: Sequence[list[Content]]) -> Content:
    factor = math.isqrt(len(near))
    cells = [as_uri(cell) for cell in expand(image[None], factor)] if factor > 1 else [None]
    return {
        "image": as_uri(image),
        "init": None if init is None else as_uri(init),
        "records": [{"cell": cell, "nearest": own} for cell, own in zip(cells, near, strict=True)],
    }


def _each_once(tiles: Tiles) -> Content | None:
    """The inits, each of them once, and which of them each image had, by set and class; None without any."""
    of = [[[tile["init"] for tile in own] for own in by_class] for by_class in tiles]
    places = {init: place for place, init in enumerate(sorted(_inits_in(tiles)))}
    if not places:
        return None
    return {
        "images": [*places],
        "of": [[[places.get(init) for init in own] for own in by_class] for by_class in of],
    }


def _inits_in(tiles: Tiles) -> set[str]:
    every = (tile["init"] for by_class in tiles for own in by_class for tile in own)
    return {init for init in every if init is not None}


def _letters(tiles: Tiles, real: dict[int, Content]) -> int:
    every = [tile for by_class in tiles for own in by_class for tile in own]
    cells = [record["cell"] or "" for tile in every for record in tile["records"]]
    texts = [*cells, *_inits_in(tiles), *(tile["image"] for tile in [*every, *real.values()])]
    return sum(map(len, texts))


def as_uri(pixels: Tensor) -> str:
    """An image in the text of a page: WebP without loss, a fifth smaller than PNG, unless it is large.

    Of channels that are neither grey nor colours (and opacity), the first ones are shown.
    """
    image = as_image(pixels) if len(pixels) in (1, 3, 4) else as_colours(pixels)
    # More than WebP has, and than a page needs.
    image.thumbnail((_WIDEST, _WIDEST))
    buffer = BytesIO()
    image.save(buffer, "WEBP", lossless=pixels[0].numel() <= _LARGE, quality=85, exact=True)
    return "data:image/webp;base64," + b64encode(buffer.getvalue()).decode()
