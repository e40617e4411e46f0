"""Files of safetensors: read into memory of our own, and written tensor by tensor into an open file.

A file that is mapped into memory kills the process when somebody cuts it short; one that is read does not.
"""

import hashlib
import json
import math
import os
import re
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import torch
from torch import Tensor

from lqm.utils.errors import ArtifactError
from lqm.utils.files import open_regular, temporary_file
from lqm.utils.limits import require_memory
from lqm.utils.stored_arrays import StoredArray

_DTYPES = {
    "BOOL": torch.bool,
    "U8": torch.uint8,
    "I8": torch.int8,
    "U16": torch.uint16,
    "I16": torch.int16,
    "U32": torch.uint32,
    "I32": torch.int32,
    "U64": torch.uint64,
    "I64": torch.int64,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F32": torch.float32,
    "F64": torch.float64,
}
# A name that has the hash of the content.
_HASHED = re.compile(r"\.([0-9a-f]{32})\.safetensors$")
# The bytes before the header, which say how long it is; and the longest that safetensors takes.
_LENGTH, _LONGEST = 8, 100_000_000


class _Place(NamedTuple):
    """Where a tensor is in a file."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    offset: int
    size: int


def reopened(path: Path, remedy: str) -> "TensorFile":
    """A file that another process has open, under the same path.

    Raises:
        ArtifactError: when it is not there, or its content is not the one that its name has the hash of.
    """
    if not path.exists():
        raise ArtifactError(
            f"there is no {path} here; put the cache (LQM_CACHE) on a disk that all machines share"
        )
    file = TensorFile(path, remedy)
    if (named := _HASHED.search(path.name)) and not file.sha256().startswith(named[1]):
        raise ArtifactError(
            f"{path} is not the same file here; put the cache on a disk that all machines share"
        )
    return file


class TensorFile:
    """An open file of tensors, each of which is read when it is asked for.

    Attributes:
        names: of the tensors.
        metadata: texts by name.

    Args:
        path: of the file.
        remedy: what to do about a file that can't be used.

    Raises:
        ArtifactError: when it can't be read, or is no such file.
    """

    def __init__(self, path: Path, remedy: str) -> None:
        self._path, self._remedy = path, remedy
        try:
            with open_regular(path) as file:
                self._descriptor = os.dup(file.fileno())
            weakref.finalize(self, os.close, self._descriptor)
            self._size = os.fstat(self._descriptor).st_size
            self.metadata, self._places = self._header()
        except OSError as error:
            raise self._unreadable(error.strerror) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            raise self._unreadable(str(error) or "its header is damaged") from error
        self.names = tuple(self._places)

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._places:
            raise self._unreadable(f"there is no '{name}' in it")
        dtype, shape, offset, size = self._places[name]
        require_memory(size, f"'{name}' of {self._path}")
        flat = torch.empty(size // dtype.itemsize, dtype=dtype)
        self.fill(memoryview(flat.view(torch.uint8).numpy().data), offset)
        return flat.reshape(shape)

    def __reduce__(self) -> tuple[Callable[[Path, str], "TensorFile"], tuple[Path, str]]:
        """Another process, perhaps of another machine, opens the file anew."""
        return reopened, (self._path, self._remedy)

    @property
    def size(self) -> int:
        """How many bytes the file had when it was opened."""
        return self._size

    def stored(self, name: str) -> StoredArray:
        """A tensor [N, ...] that stays in the file; its records are read when they are asked for."""
        if name not in self._places:
            raise self._unreadable(f"there is no '{name}' in it")
        dtype, shape, offset, _ = self._places[name]
        return StoredArray(self, dtype, shape, offset)

    def tensors(self) -> dict[str, Tensor]:
        """All tensors by name."""
        require_memory(self._size, str(self._path))
        return {name: self[name] for name in self.names}

    def sha256(self) -> str:
        """The hash of the whole file."""
        digest, piece, offset = hashlib.sha256(), memoryview(bytearray(2**20)), 0
        while count := os.preadv(self._descriptor, [piece], offset):
            digest.update(piece[:count])
            offset += count
        return digest.hexdigest()

    def _header(self) -> tuple[dict[str, str], dict[str, _Place]]:
        length = int.from_bytes(os.pread(self._descriptor, _LENGTH, 0), "little")
        begin = _LENGTH + length
        if not 2 <= length <= _LONGEST or begin > self._size:
            raise ValueError("its header is damaged")
        require_memory(length, f"the header of {self._path}")
        header = json.loads(os.pread(self._descriptor, length, _LENGTH))
        metadata = header.pop("__metadata__", None) or {}
        if not all(isinstance(value, str) for value in metadata.values()):
            raise ValueError("its header is damaged")
        return metadata, {name: _place(entry, begin, self._size) for name, entry in header.items()}

    def fill(self, buffer: memoryview, offset: int) -> None:
        """Read as many bytes as a buffer has, from an offset on.

        Raises:
            ArtifactError: when there are fewer, or they can't be read.
        """
        done = 0
        try:
            while done < len(buffer):
                count = os.preadv(self._descriptor, [buffer[done:]], offset + done)
                if not count:
                    raise self._unreadable("it was cut short while it was in use")
                done += count
        except OSError as error:
            raise self._unreadable(error.strerror) from error

    def _unreadable(self, why: str | None) -> ArtifactError:
        return ArtifactError(f"{self._path} can't be read ({why}); {self._remedy}")


def write_tensors(file: BinaryIO, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors as safetensors does, never a copy of them all.

    The library writes to a path, where it makes a file of its own, which we neither hold nor could flush.
    """
    # The widest types first, so that each number begins at a multiple of its size.
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0]))
    kinds = {name: (tensor.dtype, tuple(tensor.shape)) for name, tensor in ordered}
    text = header_text({"__metadata__": dict(metadata), **tensor_header(kinds)})
    file.write(len(text).to_bytes(_LENGTH, "little") + text)
    for _, tensor in ordered:
        flat = tensor.detach().cpu().contiguous().flatten()
        file.write(flat.view(torch.uint8).numpy().data)


def tensor_header(kinds: Mapping[str, tuple[torch.dtype, tuple[int, ...]]]) -> dict[str, Any]:
    """What a header says of tensors of these types and shapes that stand one after the other."""
    names = {dtype: name for name, dtype in _DTYPES.items()}
    header, begin = {}, 0
    for name, (dtype, shape) in kinds.items():
        end = begin + math.prod(shape) * dtype.itemsize
        header[name] = {"dtype": names[dtype], "shape": [*shape], "data_offsets": [begin, end]}
        begin = end
    return header


def header_text(header: Mapping[str, Any]) -> bytes:
    """A header as a file has it, of a length that is a multiple of 8."""
    text = json.dumps(header).encode()
    return text + b" " * (-len(text) % _LENGTH)


def save_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors to a file, whole or not at all.

    Raises:
        ArtifactError: when it can't be written.
    """
    try:
        with temporary_file(path.parent, path.name) as (temporary, file):
            write_tensors(file, tensors, {})
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
    except OSError as error:
        raise ArtifactError(f"{path} could not be written: {error.strerror}; choose another place") from error


def _place(entry: Mapping[str, Any], begin: int, size: int) -> _Place:
    dtype, shape, (first, last) = _DTYPES[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
    if not all(type(number) is int and number >= 0 for number in (*shape, first, last)):
        raise ValueError("its header is damaged")
    if begin + last > size:
        raise ValueError("it is cut short")
    if last - first != math.prod(shape) * dtype.itemsize:
        raise ValueError("its header is damaged")
    return _Place(dtype, shape, begin + first, last - first)
