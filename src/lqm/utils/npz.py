"""NumPy's `.npz` files from anywhere: each array is looked at before memory is taken for it.

An `.npz` is a zip archive with a `.npy` file an array, whose header says type and shape. NumPy's own reader
believes all of this; here it is compared with the size of the file and with the limit of memory first.
"""

import contextlib
import io
import math
import zipfile
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from lqm.utils.archives import UNREADABLE, Array, DamagedError, cause_of, fill, member_of, opened
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.terminal import shown

_AGAIN = "fetch or write the file again"
_PLAIN = "save plain arrays by numpy.savez"
_HEADER = 10_000
# The memory of a string of Python besides its characters, and of a place for it.
_STRING = 96
_NAMES_SHOWN = 20
_LENGTHS = {(1, 0): (2, npy.read_array_header_1_0), (2, 0): (4, npy.read_array_header_2_0)}


class Arrays:
    """The arrays of a file, each read when it is asked for.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "two.npz"
        ...     np.savez(path, x=np.arange(3), y=np.zeros(2))
        ...     arrays = Arrays(path)
        ...     print(sorted(arrays.keys), arrays["x"])
        ['x', 'y'] [0 1 2]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.keys = keys_of(path)
        self._taken: dict[str, int] = {}

    def __getitem__(self, key: str) -> Array:
        """The array under a key.

        Raises:
            DataError: when it is missing, is damaged, is no array of plain values, or is larger than the
                limit of memory leaves room for beside the arrays that were read before.
        """
        if key not in self.keys:
            raise DataError(f"{self.path} holds {listed(self.keys)}; '{key}' is missing")
        with _reading(self.path, key) as archive:
            return self._read(archive, key)

    def layout(self, known: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        """The first of the known sets of keys that are all there; DataError if none is."""
        sets = [*known]
        found = next((keys for keys in sets if self.keys >= set(keys)), None)
        if found is None:
            accepted = "; or ".join(", ".join(keys) for keys in sets)
            raise DataError(f"{self.path} holds {listed(self.keys)}; it should hold {accepted}")
        return found

    def bytes_of(self, key: str) -> tuple[tuple[int, ...], int] | None:
        """Shape and size of an array, if it is of bytes (uint8) and its rows can be read one by one."""
        with _reading(self.path, key) as archive, self._opened(archive, key) as (_, shape, by_columns, kind):
            return None if by_columns or kind != np.uint8 or not shape else (shape, math.prod(shape))

    def rows(self, key: str, count: int) -> Generator[Array, None, None]:
        """The rows of such an array, so many at a time."""
        with _reading(self.path, key) as archive, self._opened(archive, key) as (file, shape, *_):
            for first in range(0, shape[0], count):
                part = np.empty((min(count, shape[0] - first), *shape[1:]), np.uint8)
                fill(file, part.reshape(-1), last=first + count >= shape[0])
                yield part

    @contextlib.contextmanager
    def _opened(
        self, archive: zipfile.ZipFile, key: str
    ) -> Iterator[tuple[IO[bytes], tuple[int, ...], bool, np.dtype[Any]]]:
        """The content of an array; its shape, whether columns come first, and its type."""
        member = _member(archive, key, self.path.stat().st_size)
        place = f"'{key}' of {self.path}"
        with archive.open(member) as file:
            header = _header(file)
            if header is None:
                raise DataError(f"{place} is no array; {_PLAIN}")
            shape, by_columns, kind, start = header
            if kind.kind not in "biufcUSmM":
                raise DataError(f"{place} holds objects or records and no plain values; {_PLAIN}")
            size = _size(shape, kind)
            if member.file_size != start + size:
                raise DamagedError(f"it has {member.file_size} bytes and should have {start + size}")
            yield file, shape, by_columns, kind

    def _read(self, archive: zipfile.ZipFile, key: str) -> Array:
        place = f"'{key}' of {self.path}"
        with self._opened(archive, key) as (file, shape, by_columns, kind):
            size = _size(shape, kind)
            self._taken[key] = size
            require_memory(sum(self._taken.values()), f"{place} with the arrays that were read before")
            content = np.empty(size, np.uint8)
            fill(file, content)
        array = content.view(kind)
        return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def keys_of(path: Path) -> frozenset[str]:
    """The names of the arrays in a file; DataError when it can't be opened as `.npz`."""
    try:
        with opened(path) as archive:
            return frozenset(name.removesuffix(".npy") for name in archive.namelist())
    except UNREADABLE as error:
        raise DataError(f"{path} can't be read as .npz ({cause_of(error)}); {_AGAIN}") from error


def shape_of(path: Path, key: str) -> tuple[int, ...] | None:
    """The shape that the header of an array claims; None for no array, DataError if it can't be read."""
    with _reading(path, key) as archive, archive.open(_member(archive, key, path.stat().st_size)) as file:
        header = _header(file)
        return header and header[0]


def listed(keys: Iterable[str]) -> str:
    r"""Names out of a file, in a sentence: the first ones, and without characters that can't be printed.

    Example:
        >>> listed(["y", "x"]), listed([]), listed([chr(0xDC80)])
        ('x, y', 'nothing', '\\udc80')
    """
    names = sorted(keys)
    words = [shown(name) for name in names[:_NAMES_SHOWN]]
    return ", ".join(words + ["..."] * (len(names) > _NAMES_SHOWN)) or "nothing"


def strings_of(array: Array, what: str) -> tuple[str, ...]:
    """The names in an array of strings, each without what is no character of Unicode.

    Raises:
        DataError: when the array is no list of strings; `what` is what it should be, with its place.
    """
    if array.ndim != 1 or array.dtype.kind not in "US":
        raise DataError(
            f"{what} should be a list of strings, a name a class; it is {array.dtype} of shape "
            f"{list(array.shape)}"
        )
    require_memory(array.nbytes + _STRING * len(array), what)
    if array.dtype.kind == "U":
        codes = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).view(np.uint32)
        if codes.max(initial=0) > 0x10FFFF:
            raise DataError(f"{what} should be strings; they have characters that Unicode does not")
        return tuple(str(name).encode("utf-8", "replace").decode() for name in array)
    return tuple(bytes(name).decode(errors="replace") for name in array)


def _member(archive: zipfile.ZipFile, key: str, size: int) -> zipfile.ZipInfo:
    name = f"{key}.npy"
    return member_of(archive, name if name in set(archive.namelist()) else key, size)


@contextlib.contextmanager
def _reading(path: Path, key: str) -> Iterator[zipfile.ZipFile]:
    """An archive, of which one array is read; DataError names it if that fails."""
    try:
        with opened(path) as archive:
            yield archive
    except UNREADABLE as error:
        raise DataError(
            f"'{key}' of {path} can't be read as an array of .npz ({cause_of(error)}); {_AGAIN}"
        ) from error


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any], int] | None:
    """Shape, whether columns come first, type, and length of the header; None for what is no array."""
    magic = file.read(npy.MAGIC_LEN)
    if not magic.startswith(npy.MAGIC_PREFIX):
        return None
    version = npy.read_magic(io.BytesIO(magic))
    if version not in _LENGTHS:
        raise DamagedError(f"a header of version {version[0]}.{version[1]} is not known")
    digits, parse = _LENGTHS[version]
    length = file.read(digits)
    count = int.from_bytes(length, "little")
    if count > _HEADER:
        raise DamagedError(f"its header has {count} bytes, more than {_HEADER}")
    shape, by_columns, kind = parse(io.BytesIO(length + file.read(count)))
    return shape, by_columns, kind, len(magic) + digits + count


def _size(shape: tuple[int, ...], kind: np.dtype[Any]) -> int:
    if min(shape, default=0) < 0:
        raise DamagedError("its shape is negative")
    count = math.prod(shape)
    if count and not kind.itemsize:
        raise DamagedError("its values have no bytes")
    return count * kind.itemsize
