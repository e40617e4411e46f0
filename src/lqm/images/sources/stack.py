"""Images that come one by one, in one array."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lqm.images.sources.resize import check_square, suggested
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory


class Stack:
    """An array [total, C, H, W] that is filled image by image.

    Images have one size and one type. Greyscale ones become colour as soon as a colour one comes.

    Args:
        total: how many images will come.
        advice: what to do about a size that can't be used; `{}` stands for a size that could.
    """

    def __init__(self, total: int, advice: str) -> None:
        self._total, self._advice = total, advice
        self._places: list[str] = []
        self._images: NDArray[np.generic] = np.empty(0)

    def add(self, image: NDArray[np.generic], place: str) -> None:
        """Take the next image, [C, H, W]."""
        if not self._places:
            require_memory(self._total * image.nbytes, f"{self._total:,} images such as {place}")
            self._images = np.empty((self._total, *image.shape), image.dtype)
        self._check(image, place)
        if len(image) > self._images.shape[1]:
            both = self._images.nbytes + self._total * image.nbytes
            require_memory(both, f"{self._total:,} images in colour such as {place}")
            self._images = np.repeat(self._images, len(image), axis=1)
        self._images[len(self._places)] = image
        self._places.append(place)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def bytes_an_image(self) -> int:
        """What one of the images that came takes, in colour."""
        return 3 * int(np.prod(self._images.shape[2:])) * self._images.itemsize

    def check_square(self) -> None:
        """Refuse what came so far if it is not of a size that can be used."""
        height, width = self._images.shape[2:]
        check_square(height, width, f"{self._places[0]} is", self._advice.format(suggested(height, width)))

    @property
    def images(self) -> Tensor:
        """All images, [total, C, H, W]."""
        return torch.from_numpy(self._images)

    def check_size(self, height: int, width: int, place: str) -> None:
        """Refuse an image that is not of the size of those that came so far."""
        if self._places and (height, width) != self._images.shape[2:]:
            own_height, own_width = self._images.shape[2:]
            advice = self._advice.format(suggested(own_height, own_width, height, width))
            raise DataError(
                f"{self._places[0]} is of {own_width}x{own_height} pixels and {place} of {width}x{height}; "
                f"{advice}"
            )

    def _check(self, image: NDArray[np.generic], place: str) -> None:
        if len(self._places) == self._total:
            raise DataError(f"{place} comes after {self._total:,} images, as many as have labels; remove it")
        self.check_size(image.shape[1], image.shape[2], place)
        first, channels = (self._places or [place])[0], self._images.shape[1]
        if len(image) != channels and {len(image), channels} != {1, 3}:
            raise DataError(
                f"{first} has {channels} channels and {place} {len(image)}; they should have as many"
            )
        if image.dtype != self._images.dtype:
            raise DataError(
                f"{first} is of type {self._images.dtype} and {place} of {image.dtype}; "
                "they should be of one type"
            )
