"""Pickled arrays, as those of CIFAR and Planetoid, read without running the program in the file.

A pickle is a program for a stack machine that may call any function. `pickletools` parses it without running
it, and the machine here knows only plain values, containers of them, arrays of numbers and sparse matrices of
these: all else is refused.
"""

import math
import pickletools
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lqm.utils.errors import DataError
from lqm.utils.sentences import reason

_VALUES = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"}
_VALUES |= {"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
_VALUES |= {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_BYTE_STRINGS = {"STRING", "BINSTRING", "SHORT_BINSTRING"}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}


class _RefusedError(Exception):
    """Something that is not allowed."""


class SparseState:
    """The attributes of a pickled `csr_matrix`, unchecked."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}


def read_arrays(path: Path) -> Any:
    """The dictionaries, lists, strings, numbers, arrays and sparse matrices in a file.

    Raises:
        DataError: when the file is damaged, or asks for anything else.
    """
    machine = _Machine()
    try:
        for opcode, argument, _ in pickletools.genops(path.read_bytes()):
            machine.step(opcode.name, argument)
        return machine.stack[-1]
    except _RefusedError as error:
        raise DataError(
            f"{path} asks for {error}, which arrays don't need and which was not run; fetch the file again "
            "from where it was published"
        ) from None
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged or cut off ({reason(error)}); fetch it again") from error


class _Machine:
    """The stack, the stacks below the marks, and the memo."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:
        """Do one step of the program."""
        if name in _VALUES:
            self.stack.append(argument)
        elif name in _BYTE_STRINGS:
            self.stack.append(argument.encode("latin-1"))
        elif name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _TUPLES:
            self.stack.append(tuple(self._pop(_TUPLES[name])))
        elif name not in ("PROTO", "FRAME", "STOP"):
            self._other_step(name, argument)

    def _other_step(self, name: str, argument: Any) -> None:
        match name:
            case "MARK":
                self._below.append(self.stack)
                self.stack = []
            case "PUT" | "BINPUT" | "LONG_BINPUT":
                self._memo[argument] = self.stack[-1]
            case "MEMOIZE":
                self._memo[len(self._memo)] = self.stack[-1]
            case "GET" | "BINGET" | "LONG_BINGET":
                self.stack.append(self._memo[argument])
            case "LIST" | "TUPLE" | "DICT":
                items = self._pop_to_mark()
                self.stack.append(_CONTAINERS[name](items))
            case "APPEND" | "APPENDS":
                items = self._pop(1) if name == "APPEND" else self._pop_to_mark()
                _expect(self.stack[-1], list).extend(items)
            case "SETITEM" | "SETITEMS":
                items = self._pop(2) if name == "SETITEM" else self._pop_to_mark()
                _expect(self.stack[-1], dict).update(_dictionary(items))
            case "GLOBAL":
                self.stack.append(_function(argument))
            case "STACK_GLOBAL":
                self.stack.append(_function(" ".join(self._pop(2))))
            case "REDUCE":
                function, arguments = self._pop(2)
                if not any(function is known for known in _FUNCTIONS.values()):
                    raise _RefusedError("a call of something that is no function")
                self.stack.append(function(*arguments))
            case "NEWOBJ":
                kind, arguments = self._pop(2)
                self.stack.append(_new_sparse(kind, *arguments))
            case "BUILD":
                _build(self.stack[-2], self._pop(1)[0])
            case _:
                raise _RefusedError(f"the step {name}")

    def _pop(self, count: int) -> list[Any]:
        items = self.stack[-count:]
        if len(items) < count:
            raise IndexError("a value is missing")
        del self.stack[-count:]
        return items

    def _pop_to_mark(self) -> list[Any]:
        items, self.stack = self.stack, self._below.pop()
        return items


def _dictionary(items: list[Any]) -> dict[Any, Any]:
    for key in items[::2]:
        # Python has no limit for the depth of a tuple whose hash it takes, and crashes.
        if type(key) not in (str, bytes, int):
            raise _RefusedError(f"a dictionary with a key of type '{type(key).__name__}'")
    return dict(zip(items[::2], items[1::2], strict=True))


def _expect(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"a value is no {kind.__name__}")
    return value


def _function(name: str) -> Callable[..., Any]:
    if name not in _FUNCTIONS:
        raise _RefusedError(f"'{name.replace(' ', '.')}'")
    return _FUNCTIONS[name]


def _text(name: Any) -> str:
    return name.decode("ascii") if isinstance(name, bytes) else str(_expect(name, str))


def _number_type(name: Any, *_: Any) -> np.dtype[Any]:
    """A copy of a type of numbers, so that its byte order can be set."""
    text = _text(name)
    if text not in ("b1", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
        raise _RefusedError(f"an array of '{text}'")
    return np.dtype(text, False, True)


def _bytes_of(text: str, encoding: Any) -> bytes:
    if _text(encoding) not in ("latin1", "latin-1"):
        raise _RefusedError(f"the encoding '{encoding}'")
    return text.encode("latin-1")


def _array_of(content: bytes, kind: Any, shape: tuple[int, ...], order: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(content, _expect_dtype(kind)).reshape(shape, order="F" if order == "F" else "C")


def _refuse_call(name: str, *_: Any) -> Any:
    """A type that a file may name, but not call."""
    raise _RefusedError(f"a call of {name}")


_array_type = partial(_refuse_call, "'numpy.ndarray'")
_sparse_type = partial(_refuse_call, "'scipy.sparse.csr_matrix'")
_plain_type = partial(_refuse_call, "'object' or 'list'")


def _new_sparse(kind: Any, *rest: Any) -> SparseState:
    if kind is not _sparse_type or rest not in ((), (_plain_type, None)):
        raise _RefusedError("an object that is no sparse matrix")
    return SparseState()


def _defaultdict(kind: Any = _plain_type) -> dict[Any, Any]:
    """A plain dictionary in place of `defaultdict(list)`."""
    if kind is not _plain_type:
        raise _RefusedError("a dictionary of something else than lists")
    return {}


def _build(target: Any, state: Any) -> None:
    """Set the byte order of a type, shape and content of an array, or the attributes of a sparse matrix."""
    if isinstance(target, SparseState):
        target.state = {_text(name): value for name, value in _expect(state, dict).items()}
        return
    if isinstance(target, np.dtype):
        version, order, *rest = state
        usual = version == 3 and rest == [None, None, None, -1, -1, 0]
        if not usual or order not in ("<", ">", "|", b"<", b">", b"|"):
            raise _RefusedError("a type of numbers that is none of the usual ones")
    elif isinstance(target, np.ndarray):
        version, shape, kind, _, content = state
        expected = math.prod(_expect(length, int) for length in shape) * _expect_dtype(kind).itemsize
        if version != 1 or min(shape, default=0) < 0 or len(_expect(content, bytes)) != expected:
            raise ValueError("an array is not of the length that it should have")
    else:
        raise _RefusedError(f"changing a {type(target).__name__}")
    target.__setstate__(state)


def _expect_dtype(kind: Any) -> np.dtype[Any]:
    if not isinstance(kind, np.dtype):
        raise TypeError("a type of numbers is missing")
    return kind


_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {"LIST": list, "TUPLE": tuple, "DICT": _dictionary}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "numpy dtype": _number_type,
    "numpy ndarray": _array_type,
    **{
        f"numpy.{core}.multiarray _reconstruct": lambda *_: np.empty(0, np.int8) for core in ("core", "_core")
    },
    **{f"numpy.{core}.numeric _frombuffer": _array_of for core in ("core", "_core")},
    "_codecs encode": _bytes_of,
    **{f"scipy.sparse.{module} csr_matrix": _sparse_type for module in ("csr", "_csr")},
    **{f"{module} _reconstructor": _new_sparse for module in ("copy_reg", "copyreg")},
    "collections defaultdict": _defaultdict,
    **{f"{m} {name}": _plain_type for m in ("__builtin__", "builtins") for name in ("list", "object")},
}
