"""Images that come one by one, all of one size and type."""

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lqm.images.sources.resize import check_square, suggested
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory


class Room(Protocol):
    """Where images [C, H, W] of one shape and type go, one after the other."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def add(self, image: NDArray[np.generic]) -> None:
        """The next image; a greyscale one among colour ones as colour."""
        ...

    def widen(self, channels: int) -> None:
        """Make all images that came colour ones."""
        ...


class InMemory:
    """Images in an array [total, C, H, W].

    Raises:
        DataError: when they take more than the limit of memory; `place` names one.
    """

    def __init__(self, total: int, image: NDArray[np.generic], place: str) -> None:
        require_memory(total * image.nbytes, f"{total:,} images such as {place}")
        self._place, self._came = place, 0
        self._images = np.empty((total, *image.shape), image.dtype)
        self.shape: tuple[int, ...] = image.shape
        self.dtype: np.dtype[Any] = image.dtype

    def add(self, image: NDArray[np.generic]) -> None:
        """The next image."""
        self._images[self._came] = image
        self._came += 1

    def widen(self, channels: int) -> None:
        """Make all images that came colour ones."""
        require_memory(
            (1 + channels) * self._images.nbytes,
            f"{len(self._images):,} images in colour beside {self._place}",
        )
        self._images = np.repeat(self._images, channels, axis=1)
        self.shape = self._images.shape[1:]

    @property
    def images(self) -> Tensor:
        """All images, [total, C, H, W]."""
        return torch.from_numpy(self._images)


R = TypeVar("R", bound=Room)


class Stack(Generic[R]):
    """Images that come one by one: of one size and one type, in memory or in a file.

    Greyscale ones become colour as soon as a colour one comes.

    Args:
        total: how many images will come.
        advice: what to do about a size that can't be used; `{}` stands for a size that could.
        make_room: where they go, once the first one and what to call it are known.
    """

    def __init__(
        self, total: int, advice: str, make_room: Callable[[int, NDArray[np.generic], str], R]
    ) -> None:
        self._total, self._advice, self._make_room = total, advice, make_room
        self._first, self._came = "", 0
        self._room: R | None = None

    @property
    def room(self) -> R:
        """Where the images went; one at least has come."""
        assert self._room is not None
        return self._room

    def add(self, image: NDArray[np.generic], place: str) -> None:
        """Take the next image, [C, H, W]."""
        if self._room is None:
            self._first, self._room = place, self._make_room(self._total, image, place)
        self._check(image, place)
        if len(image) > self._room.shape[0]:
            self._room.widen(len(image))
        self._room.add(image)
        self._came += 1

    def __len__(self) -> int:
        return self._came

    @property
    def bytes_an_image(self) -> int:
        """What one of the images that came takes, in colour."""
        return 3 * int(np.prod(self.room.shape[1:])) * self.room.dtype.itemsize

    def check_square(self) -> None:
        """Refuse what came so far if it is not of a size that can be used."""
        height, width = self.room.shape[1:]
        check_square(height, width, f"{self._first} is", self._advice.format(suggested(height, width)))

    def check_size(self, height: int, width: int, place: str) -> None:
        """Refuse an image that is not of the size of those that came so far."""
        if self._room is not None and (height, width) != self._room.shape[1:]:
            own_height, own_width = self._room.shape[1:]
            advice = self._advice.format(suggested(own_height, own_width, height, width))
            raise DataError(
                f"{self._first} is of {own_width}x{own_height} pixels and {place} of {width}x{height}; "
                f"{advice}"
            )

    def _check(self, image: NDArray[np.generic], place: str) -> None:
        if self._came == self._total:
            raise DataError(f"{place} comes after {self._total:,} images, as many as have labels; remove it")
        self.check_size(image.shape[1], image.shape[2], place)
        channels = self.room.shape[0]
        if len(image) != channels and {len(image), channels} != {1, 3}:
            raise DataError(
                f"{self._first} has {channels} channels and {place} {len(image)}; they should have as many"
            )
        if image.dtype != self.room.dtype:
            raise DataError(
                f"{self._first} is of type {self.room.dtype} and {place} of {image.dtype}; "
                "they should be of one type"
            )
