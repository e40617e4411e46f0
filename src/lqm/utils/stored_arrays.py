"""Arrays of equal records that are not in memory: those that are asked for are read from a file.

A file that is mapped into memory would kill the process when somebody cuts it short, and its pages would
count as memory of the process; reading into memory of our own does neither.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from math import prod
from typing import Protocol, TypeAlias

import torch
from torch import Tensor

from lqm.utils.limits import require_memory

# Bytes that are looked at at a time.
_CHUNK = 1 << 23

Places: TypeAlias = int | slice | Sequence[int] | Tensor


class ByteSource(Protocol):
    """An open file, of which any part can be read by any thread."""

    def fill(self, buffer: memoryview, offset: int) -> None:
        """Read as many bytes as a buffer has, from an offset on; ArtifactError if there are fewer."""
        ...


class LazyArray(ABC):
    """An array [N, ...] of which records are read when they are asked for, as a tensor in memory.

    Of a tensor it has what the readers of records need: `shape`, `dtype`, `len()`, `[...]` by a number, a
    slice, numbers or a mask, and `split`.
    """

    dtype: torch.dtype
    shape: tuple[int, ...]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, places: Places) -> Tensor:
        if isinstance(places, int):
            return self[torch.tensor([places])][0]
        if isinstance(places, slice):
            first, last, step = places.indices(len(self))
            if step == 1:
                return self._range(first, max(first, last))
            return self._chosen(torch.arange(first, max(first, last), step))
        numbers = places if isinstance(places, Tensor) else torch.tensor([*places], dtype=torch.int64)
        if numbers.dtype == torch.bool:
            if numbers.shape != self.shape[:1]:
                raise IndexError(f"a mask of shape {list(numbers.shape)} is not of {len(self)} records")
            numbers = numbers.nonzero()[:, 0]
        if numbers.ndim == 0:
            return self[numbers[None]][0]
        numbers = torch.where(numbers < 0, numbers + len(self), numbers)
        if len(numbers) and not (int(numbers.min()) >= 0 and int(numbers.max()) < len(self)):
            raise IndexError(f"there are {len(self)} records, and another one is asked for")
        return self._chosen(numbers)

    def split(self, count: int) -> Iterator[Tensor]:
        """All records in order, so many at a time; of an empty array one empty part, as of a tensor."""
        for first in range(0, max(1, len(self)), count):
            yield self[first : first + count]

    @property
    def ndim(self) -> int:
        """How many axes it has."""
        return len(self.shape)

    def numel(self) -> int:
        """How many numbers it has."""
        return prod(self.shape)

    def element_size(self) -> int:
        """How many bytes a number takes."""
        return self.dtype.itemsize

    def is_floating_point(self) -> bool:
        """Whether the numbers are floats."""
        return self.dtype.is_floating_point

    @abstractmethod
    def _range(self, first: int, last: int) -> Tensor:
        """The records from `first` to before `last`."""

    @abstractmethod
    def _chosen(self, numbers: Tensor) -> Tensor:
        """The records of these numbers, in this order, each 0 to N - 1."""


Records: TypeAlias = Tensor | LazyArray


class StoredArray(LazyArray):
    """Records that stand one after the other in a file.

    Args:
        file: the file.
        dtype: of the numbers.
        shape: of the array, [N, ...].
        offset: the byte at which it begins.
    """

    def __init__(self, file: ByteSource, dtype: torch.dtype, shape: tuple[int, ...], offset: int) -> None:
        self._file, self._offset = file, offset
        self.dtype, self.shape = dtype, shape
        self._bytes = prod(shape[1:]) * dtype.itemsize

    def _range(self, first: int, last: int) -> Tensor:
        flat = torch.empty((last - first) * self._bytes, dtype=torch.uint8)
        self._file.fill(memoryview(flat.numpy().data), self._offset + first * self._bytes)
        return flat.view(self.dtype).reshape(last - first, *self.shape[1:])

    def _chosen(self, numbers: Tensor) -> Tensor:
        """Read in the order of the file, each record once and neighbours together."""
        ordered, back = numbers.unique(return_inverse=True)
        flat = torch.empty(len(ordered) * self._bytes, dtype=torch.uint8)
        buffer, places = memoryview(flat.numpy().data), ordered.tolist()
        begins = [0, *((ordered.diff() != 1).nonzero()[:, 0] + 1).tolist()] if places else []
        for begin, end in zip(begins, [*begins[1:], len(places)], strict=False):
            run = buffer[begin * self._bytes : end * self._bytes]
            self._file.fill(run, self._offset + places[begin] * self._bytes)
        read = flat.view(self.dtype).reshape(len(ordered), *self.shape[1:])
        in_order = len(ordered) == len(numbers) and bool((numbers.diff() > 0).all())
        return read if in_order else read[back]


class Part(LazyArray):
    """Some records of an array, by their places in it; nothing is copied until it is asked for."""

    def __init__(self, records: Records, places: Tensor) -> None:
        self.records: Records = records.records if isinstance(records, Part) else records
        self.places: Tensor = records.places[places] if isinstance(records, Part) else places
        self.dtype, self.shape = records.dtype, (len(places), *records.shape[1:])

    def _range(self, first: int, last: int) -> Tensor:
        return self.records[self.places[first:last]]

    def _chosen(self, numbers: Tensor) -> Tensor:
        return self.records[self.places[numbers]]


def chunks(records: Records) -> Iterator[Tensor]:
    """All records in order, some megabytes at a time."""
    each = prod(records.shape[1:]) * records.element_size()
    yield from records.split(max(1, _CHUNK // max(1, each)))


def subset(records: Records, places: Tensor) -> Records:
    """Some records, by numbers or a mask: a copy in memory of what is there, else a part of the array."""
    if isinstance(records, Tensor):
        return records[places]
    return Part(records, places.nonzero()[:, 0] if places.dtype == torch.bool else places)


def in_memory(records: Records, what: str) -> Tensor:
    """All records as a tensor.

    Raises:
        DataError: when they are read from a file and take more than the limit of memory; `what` names them.
    """
    if isinstance(records, Tensor):
        return records
    require_memory(records.numel() * records.element_size(), what)
    return records[:]
