"""Torch's `.pt` files, read without running the program in them and without torch.

A `.pt` is a zip archive: `data.pkl` says what was saved, and the numbers of each tensor are a member of their
own, `data/0` and so on. Plain values, containers of them, arrays and tensors are made of it; all else is
refused.
"""

import math
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from lqm.utils.archives import UNREADABLE, Array, DamagedError, cause_of, fill, member_of, opened
from lqm.utils.array_calls import FUNCTIONS, RefusedError, expect
from lqm.utils.arrays import Machine, taken_apart
from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory
from lqm.utils.terminal import shown

_REMEDY = "save plain tensors, such as a list [images, labels]"
_AXES = 8
_BFLOAT16 = "bfloat16"
_KINDS = {
    "Float": "f4",
    "Double": "f8",
    "Half": "f2",
    "BFloat16": _BFLOAT16,
    "Long": "i8",
    "Int": "i4",
    "Short": "i2",
    "Char": "i1",
    "Byte": "u1",
    "Bool": "b1",
}


@dataclass(frozen=True)
class Storage:
    """The numbers of one or more tensors: the name of their member, their type, and how many they are."""

    name: str
    kind: str
    length: int


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as a file describes it; `TorchFile.array` reads it."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class TorchFile:
    """What a file holds, its tensors each read when they are asked for.

    Attributes:
        content: dictionaries, lists, tuples, numbers, texts, arrays and `StoredTensor`s.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._taken = 0
        try:
            with opened(path) as archive:
                names = archive.namelist()
                inside = [name for name in names if name.count("/") == 1 and name.endswith("/data.pkl")]
                if len(inside) != 1:
                    raise DamagedError("it has no data.pkl")
                self._root = inside[0].removesuffix("data.pkl")
                program = self._read(archive, "data.pkl").tobytes()
                order = f"{self._root}byteorder"
                self._big = order in names and self._read(archive, "byteorder").tobytes() == b"big"
        except UNREADABLE as error:
            raise DataError(
                f"{path} can't be read as a file of torch ({cause_of(error)}); save it again by torch 1.6 or "
                "later, or as .npz"
            ) from error
        self.content = taken_apart(_TorchMachine(path), lambda: program)

    def array(self, tensor: StoredTensor) -> Array:
        """The numbers of a tensor.

        Raises:
            DataError: when they are damaged, or too many for the limit of memory.
        """
        kind = tensor.storage.kind
        plain = np.dtype("u2" if kind == _BFLOAT16 else kind)
        try:
            with opened(self.path) as archive:
                numbers = self._read(archive, f"data/{tensor.storage.name}")
            if len(numbers) != plain.itemsize * tensor.storage.length:
                raise DamagedError("a tensor is not of the length that it should have")
            values = numbers.view(plain.newbyteorder(">" if self._big else "<"))
            steps = [stride * plain.itemsize for stride in tensor.strides]
            require_memory(
                self._taken + 2 * math.prod(tensor.shape) * plain.itemsize, f"a tensor of {self.path}"
            )
            whole = as_strided(values[tensor.offset :], tensor.shape, steps, writeable=False)
            found: Array = np.array(whole, plain, order="C")
        except UNREADABLE as error:
            raise DataError(
                f"a tensor of {self.path} can't be read ({cause_of(error)}); fetch or save the file again"
            ) from error
        return (found.astype(np.uint32) << 16).view(np.float32) if kind == _BFLOAT16 else found

    def _read(self, archive: zipfile.ZipFile, name: str) -> Array:
        member = member_of(archive, self._root + name, self.path.stat().st_size)
        self._taken += member.file_size
        require_memory(self._taken, f"the content of {self.path}")
        content = np.empty(member.file_size, np.uint8)
        with archive.open(member) as file:
            fill(file, content)
        return content


def _storage_type(kind: str, *_: Any) -> Any:
    """A type that names the numbers of a tensor, and is never called."""
    raise RefusedError(f"a call of a storage of {kind}")


def _whole(numbers: Any) -> tuple[int, ...]:
    return tuple(expect(number, int) for number in expect(numbers, tuple))


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> StoredTensor:
    """In place of `torch._utils._rebuild_tensor_v2`; nothing may lie outside of the storage."""
    known = expect(storage, Storage)
    sizes, steps = _whole(shape), _whole(strides)
    if len(sizes) != len(steps) or len(sizes) > _AXES or min((0, offset, *sizes, *steps)) < 0:
        raise ValueError("a tensor has a shape that can't be")
    last = offset + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))
    if 0 not in sizes and last >= known.length:
        raise ValueError("a tensor is longer than its numbers")
    return StoredTensor(known, expect(offset, int), sizes, steps)


def _parameter(tensor: Any, *_: Any) -> StoredTensor:
    found: StoredTensor = expect(tensor, StoredTensor)
    return found


def _scalar(kind: Any, content: Any) -> int | float:
    """In place of NumPy's number of one type."""
    if not isinstance(kind, np.dtype) or len(expect(content, bytes)) != kind.itemsize:
        raise ValueError("a number is not of the length that it should have")
    found: int | float = np.frombuffer(content, kind)[0].item()
    return found


def _ordered(*items: Any) -> dict[Any, Any]:
    if items:
        raise RefusedError("a dictionary that is filled by a call")
    return {}


_STORAGES = {kind: partial(_storage_type, kind) for kind in _KINDS}


class _TorchMachine(Machine):
    """The same machine, which knows tensors too."""

    makes, remedy = "tensors", _REMEDY
    functions: dict[str, Callable[..., Any]] = {  # noqa: RUF012
        **FUNCTIONS,
        **{f"torch {kind}Storage": marker for kind, marker in _STORAGES.items()},
        "torch._utils _rebuild_tensor_v2": _tensor,
        "torch._utils _rebuild_parameter": _parameter,
        "torch Size": lambda sizes: _whole(expect(sizes, tuple)),
        "collections OrderedDict": _ordered,
        **{f"numpy.{core}.multiarray scalar": _scalar for core in ("core", "_core")},
    }

    def other_step(self, name: str, argument: Any) -> None:
        """Numbers with a fraction, and storages, which a file of torch names by a tuple."""
        if name == "BINFLOAT":
            self.stack.append(argument)
        elif name == "BINPERSID":
            word, marker, key, _, length = expect(self.pop(1)[0], tuple)
            kind = next((kind for kind, known in _STORAGES.items() if marker is known), None)
            if word != "storage" or kind is None or expect(length, int) < 0:
                raise RefusedError(f"the storage '{shown(word)}'")
            self.stack.append(Storage(expect(key, str), _KINDS[kind], length))
        else:
            super().other_step(name, argument)
