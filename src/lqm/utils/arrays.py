"""Pickled arrays, as those of CIFAR and Planetoid, read without running the program in the file.

A pickle is a program for a stack machine that may call any function. `pickletools` parses it without running
it, and the machine here knows only plain values, containers of them, arrays of numbers and sparse matrices of
these: all else is refused.
"""

import pickletools
from collections.abc import Callable, Mapping
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
    return taken_apart(Machine(path), lambda: read_whole(path))


def taken_apart(machine: "Machine", content: Callable[[], bytes]) -> Any:
    """What the steps of a pickle make of plain values, as far as a machine takes them."""
    try:
        machine.run(content())
        return machine.result()
    except RefusedError as error:
        raise DataError(
            f"{machine.path} asks for {error}, which {machine.makes} don't need and which was not run; "
            f"{machine.remedy}"
        ) from None
    except (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = shown(reason(error))
        raise DataError(f"{machine.path} is damaged or cut off ({why}); fetch it again") from error


class Machine:
    """The stack, the stacks below the marks, the memo, and the bytes that were taken so far."""

    functions: Mapping[str, Callable[..., Any]] = FUNCTIONS
    makes, remedy = "arrays", "fetch the file again from where it was published"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._taken, self._limit = 0, max_memory()
        self.stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def run(self, content: bytes) -> None:
        """Do all steps of a program."""
        self._take(len(content))
        for opcode, argument, _ in pickletools.genops(content):
            self.step(opcode.name, argument)

    def result(self) -> Any:
        """What the program has made."""
        made = self.stack[-1]
        parts = made.state if isinstance(made, SparseState) else made
        check_nesting(parts, f"the content of {self.path}")
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
            self.stack.append(tuple(self.pop(_TUPLES[name])))
        elif name not in ("PROTO", "FRAME", "STOP"):
            self.other_step(name, argument)

    def other_step(self, name: str, argument: Any) -> None:
        """Do a step that is more than a value."""
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
                items = self.pop(1) if name == "APPEND" else self._pop_to_mark()
                expect(self.stack[-1], list).extend(items)
            case "SETITEM" | "SETITEMS":
                items = self.pop(2) if name == "SETITEM" else self._pop_to_mark()
                expect(self.stack[-1], dict).update(_dictionary(items))
            case "GLOBAL":
                self.stack.append(function_of(argument, self.functions))
            case "STACK_GLOBAL":
                self.stack.append(function_of(" ".join(self.pop(2)), self.functions))
            case "REDUCE":
                function, arguments = self.pop(2)
                if not any(function is known for known in self.functions.values()):
                    raise RefusedError("a call of something that is no function")
                self._take_copies(arguments)
                self.stack.append(function(*arguments))
            case "NEWOBJ":
                kind, arguments = self.pop(2)
                self._take_copies(arguments)
                self.stack.append(new_sparse(kind, *arguments))
            case "BUILD":
                state = self.pop(1)[0]
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
            require_memory(self._taken, f"the content of {self.path}")

    def _take_copies(self, arguments: Any) -> None:
        """Count what a call makes of its arguments, which may be strings that are used again and again."""
        if not isinstance(arguments, tuple) or len(arguments) > _ARGUMENTS:
            raise RefusedError("a call with other arguments than a few")
        self._take(sum(map(_length, arguments)))

    def pop(self, count: int) -> list[Any]:
        """The last values of the stack."""
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
