"""Pickled arrays, as those of CIFAR and Planetoid, read without running the program in the file.

A pickle is a program for a stack machine that may call any function. `pickletools` parses it without running
it, and the machine here knows only plain values, containers of them, arrays of numbers and sparse matrices of
these: all else is refused.
"""

import pickletools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lqm.utils.array_calls import FUNCTIONS, RefusedError, SparseState, build, expect, function_of, new_sparse
from lqm.utils.errors import DataError
from lqm.utils.files import read_whole
from lqm.utils.limits import max_memory, require_memory
from lqm.utils.nesting import check_nesting
from lqm.utils.sentences import reason
from lqm.utils.terminal import shown

_NUMBERS = {"INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4"}
_VALUES = {"UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"}
_VALUES |= {"BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"}
_BYTE_STRINGS = {"STRING", "BINSTRING", "SHORT_BINSTRING"}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
# The memory that a step takes at most, besides the length of a string.
_STEP = 80
_BITS = 64
_ARGUMENTS = 10


def read_arrays(path: Path) -> Any:
    """The dictionaries, lists, strings, numbers, arrays and sparse matrices in a file.

    Raises:
        DataError: when the file is damaged, asks for anything else, or makes more than fits into the limit
            of memory.
    """
    machine = _Machine(path)
    try:
        for opcode, argument, _ in pickletools.genops(machine.content()):
            machine.step(opcode.name, argument)
        return machine.result()
    except RefusedError as error:
        raise DataError(
            f"{path} asks for {error}, which arrays don't need and which was not run; fetch the file again "
            "from where it was published"
        ) from None
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"{path} is damaged or cut off ({shown(reason(error))}); fetch it again") from error


class _Machine:
    """The stack, the stacks below the marks, the memo, and the bytes that were taken so far."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._taken, self._limit = 0, max_memory()
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def content(self) -> bytes:
        """The bytes of the file."""
        content = read_whole(self._path)
        self._take(len(content))
        return content

    def result(self) -> Any:
        """What the program has made."""
        made = self.stack[-1]
        parts = made.state if isinstance(made, SparseState) else made
        check_nesting(parts, f"the content of {self._path}")
        return made

    def step(self, name: str, argument: Any) -> None:
        """Do one step of the program."""
        self._take(_STEP + _length(argument))
        if name in _NUMBERS:
            if argument.bit_length() > _BITS:
                raise RefusedError(f"a number of more than {_BITS} bits")
            self.stack.append(argument)
        elif name in _VALUES:
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
                expect(self.stack[-1], list).extend(items)
            case "SETITEM" | "SETITEMS":
                items = self._pop(2) if name == "SETITEM" else self._pop_to_mark()
                expect(self.stack[-1], dict).update(_dictionary(items))
            case "GLOBAL":
                self.stack.append(function_of(argument))
            case "STACK_GLOBAL":
                self.stack.append(function_of(" ".join(self._pop(2))))
            case "REDUCE":
                function, arguments = self._pop(2)
                if not any(function is known for known in FUNCTIONS.values()):
                    raise RefusedError("a call of something that is no function")
                self._take_copies(arguments)
                self.stack.append(function(*arguments))
            case "NEWOBJ":
                kind, arguments = self._pop(2)
                self._take_copies(arguments)
                self.stack.append(new_sparse(kind, *arguments))
            case "BUILD":
                state = self._pop(1)[0]
                if isinstance(state, dict):
                    self._take(_STEP * len(state))
                else:
                    self._take_copies(state)
                build(self.stack[-1], state)
            case _:
                raise RefusedError(f"the step {name}")

    def _take(self, size: int) -> None:
        self._taken += size
        if self._taken > self._limit:
            require_memory(self._taken, f"the content of {self._path}")

    def _take_copies(self, arguments: Any) -> None:
        """Count what a call makes of its arguments, which may be strings that are used again and again."""
        if not isinstance(arguments, tuple) or len(arguments) > _ARGUMENTS:
            raise RefusedError("a call with other arguments than a few")
        self._take(sum(map(_length, arguments)))

    def _pop(self, count: int) -> list[Any]:
        items = self.stack[-count:]
        if len(items) < count:
            raise IndexError("a value is missing")
        del self.stack[-count:]
        return items

    def _pop_to_mark(self) -> list[Any]:
        items, self.stack = self.stack, self._below.pop()
        return items


def _length(value: Any) -> int:
    """The bytes of a text; one letter that is not of Latin-1 makes all letters take up to four."""
    if isinstance(value, str):
        return len(value) if value.isascii() else value.__sizeof__()
    return len(value) if isinstance(value, bytes | bytearray) else 0


def _dictionary(items: list[Any]) -> dict[Any, Any]:
    for key in items[::2]:
        # Python has no limit for the depth of a tuple whose hash it takes, and crashes.
        if type(key) not in (str, bytes, int):
            raise RefusedError(f"a dictionary with a key of type '{type(key).__name__}'")
    return dict(zip(items[::2], items[1::2], strict=True))


_CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {"LIST": list, "TUPLE": tuple, "DICT": _dictionary}
