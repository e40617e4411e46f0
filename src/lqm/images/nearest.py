"""The real images that a synthetic one resembles most."""

from typing import NamedTuple

import torch
from torch import Tensor

from lqm.utils.pixels import pixels
from lqm.utils.stored_arrays import Records

# Pixels of real images that are compared at a time, and candidates that are compared again, one by one.
_CHUNK, _MORE = 1 << 23, 8


class Nearest(NamedTuple):
    """Of each image its nearest real ones, from the nearest on: distances and places, each [M, count]."""

    distances: Tensor
    places: Tensor


def nearest(images: Tensor, real: Records, count: int) -> Nearest:
    """Nearest neighbours by the root mean square difference of pixels in [0, 1].

    Shapes: images [M, C, H, W] in [0, 1], real [N, C, H, W] as they are stored.
    """
    own = images.flatten(1)
    candidates = min(count + _MORE, len(real))
    # In single precision the difference of such sums is lost where large images are almost equal.
    exactly = own.double()
    squared, places = exactly[:, :0], torch.empty(len(own), 0, dtype=torch.int64)
    rows = max(1, _CHUNK // own.shape[1])
    for start in range(0, len(real), rows):
        part = pixels(real[start : start + rows]).flatten(1).double()
        found = part.square().sum(dim=1) - 2 * exactly @ part.T
        indices = torch.arange(start, start + len(part)).expand(len(own), -1)
        squared, places = torch.cat([squared, found], dim=1), torch.cat([places, indices], dim=1)
        squared, kept = squared.topk(min(candidates, squared.shape[1]), largest=False)
        places = places.gather(1, kept)
    exact = torch.stack(
        [
            (pixels(real[chosen]).flatten(1) - image).square().mean(dim=1).sqrt()
            for image, chosen in zip(own, places, strict=True)
        ]
    )
    distances, order = exact.sort(dim=1, stable=True)
    return Nearest(distances[:, :count], places.gather(1, order)[:, :count])
