"""What a pickle of arrays may call, each in place of the function or type that it names."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from lqm.utils.terminal import shown

# NumPy's arrays have no more axes.
_AXES = 64


class RefusedError(Exception):
    """Something that is not allowed."""


class SparseState:
    """The attributes of a pickled `csr_matrix`, unchecked."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}


def expect(value: Any, kind: type) -> Any:
    """The value, if it is of this very type."""
    if type(value) is not kind:
        raise TypeError(f"a value is no {kind.__name__}")
    return value


def function_of(name: str, functions: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
    """What stands for a function or type, by its module and name."""
    if name not in functions:
        raise RefusedError(f"'{shown(name.replace(' ', '.'))}'")
    return functions[name]


def _text(name: Any) -> str:
    return name.decode("ascii") if isinstance(name, bytes) else str(expect(name, str))


def _number_type(name: Any, *_: Any) -> np.dtype[Any]:
    """A copy of a type of numbers, so that its byte order can be set."""
    text = _text(name)
    if text not in ("b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
        raise RefusedError(f"an array of '{shown(text)}'")
    return np.dtype(text, False, True)


def _bytes_of(text: str, encoding: Any) -> bytes:
    if _text(encoding) not in ("latin1", "latin-1"):
        raise RefusedError(f"the encoding '{shown(_text(encoding))}'")
    return text.encode("latin-1")


def _array_of(content: bytes, kind: Any, shape: tuple[int, ...], order: str) -> np.ndarray[Any, Any]:
    # A view of an array would outlive the memory of that array when it is built again.
    if not isinstance(content, bytes | bytearray):
        raise TypeError("the content of an array is no bytes")
    return np.frombuffer(content, _expect_dtype(kind)).reshape(shape, order="F" if order == "F" else "C")


def _refuse_call(name: str, *_: Any) -> Any:
    """A type that a file may name, but not call."""
    raise RefusedError(f"a call of {name}")


_array_type = partial(_refuse_call, "'numpy.ndarray'")
_sparse_type = partial(_refuse_call, "'scipy.sparse.csr_matrix'")
_plain_type = partial(_refuse_call, "'object' or 'list'")


def new_sparse(kind: Any, *rest: Any) -> SparseState:
    """A sparse matrix without its attributes."""
    if kind is not _sparse_type or rest not in ((), (_plain_type, None)):
        raise RefusedError("an object that is no sparse matrix")
    return SparseState()


def _defaultdict(kind: Any = _plain_type) -> dict[Any, Any]:
    """A plain dictionary in place of `defaultdict(list)`."""
    if kind is not _plain_type:
        raise RefusedError("a dictionary of something else than lists")
    return {}


def build(target: Any, state: Any) -> None:
    """Set the byte order of a type, shape and content of an array, or the attributes of a sparse matrix."""
    if isinstance(target, SparseState):
        target.state = {_text(name): value for name, value in expect(state, dict).items()}
        return
    if isinstance(target, np.dtype):
        version, order, *rest = state
        usual = version == 3 and rest == [None, None, None, -1, -1, 0]
        if not usual or order not in ("<", ">", "|", b"<", b">", b"|"):
            raise RefusedError("a type of numbers that is none of the usual ones")
    elif isinstance(target, np.ndarray):
        version, shape, kind, _, content = state
        if target.size or len(shape) > _AXES:
            raise ValueError("an array is set twice, or has too many axes")
        expected = math.prod(expect(length, int) for length in shape) * _expect_dtype(kind).itemsize
        if version != 1 or min(shape, default=0) < 0 or len(expect(content, bytes)) != expected:
            raise ValueError("an array is not of the length that it should have")
    else:
        raise RefusedError(f"changing a {type(target).__name__}")
    target.__setstate__(state)


def _expect_dtype(kind: Any) -> np.dtype[Any]:
    if not isinstance(kind, np.dtype):
        raise TypeError("a type of numbers is missing")
    return kind


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "numpy dtype": _number_type,
    "numpy ndarray": _array_type,
    **{
        f"numpy.{core}.multiarray _reconstruct": lambda *_: np.empty(0, np.int8) for core in ("core", "_core")
    },
    **{f"numpy.{core}.numeric _frombuffer": _array_of for core in ("core", "_core")},
    "_codecs encode": _bytes_of,
    **{f"scipy.sparse.{module} csr_matrix": _sparse_type for module in ("csr", "_csr")},
    **{f"{module} _reconstructor": new_sparse for module in ("copy_reg", "copyreg")},
    "collections defaultdict": _defaultdict,
    **{f"{m} {name}": _plain_type for m in ("__builtin__", "builtins") for name in ("list", "object")},
}
