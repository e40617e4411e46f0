"""Structs in Thrift's compact encoding, in which Parquet has its footer and the headers of its pages.

A field is a byte with the distance to its number and its type, and the value; a zero byte ends the struct.
"""

from typing import Any

I32, I64, LIST, STRUCT = 5, 6, 9, 12
_DEEPEST = 16

Fields = dict[int, tuple[int, Any]]


def field(fields: Fields, number: int, kind: int) -> Any:
    """The value of a field, or None if it is not there; one of another type is refused, not passed over.

    Raises:
        ValueError: when it is of another type.
    """
    found, value = fields.get(number, (kind, None))
    if found != kind:
        raise ValueError(f"field {number} has another type")
    return value


def required(fields: Fields, number: int, kind: int) -> Any:
    """The value of a field that has to be there."""
    value = field(fields, number, kind)
    if value is None:
        raise ValueError(f"field {number} is missing")
    return value


class Compact:
    """Reads structs; raises IndexError where the content ends too early, ValueError where it is damaged."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> Fields:
        """The fields of a struct by their numbers, each with its type; texts and bytes are passed over."""
        fields: Fields = {}
        number = 0
        if depth > _DEEPEST:
            raise ValueError("structs too deep")
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            if number in fields:
                raise ValueError(f"field {number} comes twice")
            fields[number] = (kind, kind == 1 if kind in (1, 2) else self._value(kind, depth))
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2 | 3:
                self._skip(1)
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self._skip(8)
            case 8:
                self._skip(self._number())
            case 9 | 10:
                return self._list(depth)
            case 12:
                return self.struct(depth + 1)
            case _:
                raise ValueError(f"a value of the unknown type {kind}")
        return None

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._number() if head >> 4 == 15 else head >> 4
        if depth > _DEEPEST or count > len(self.content):
            raise ValueError("a list that is too long or too deep")
        return [self._value(head & 15, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        value = self.content[self.place]
        self.place += 1
        return value

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise IndexError("the content ends too early")

    def _number(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            if (shift := shift + 7) > 63:
                raise ValueError("a number that is too long")

    def _signed(self) -> int:
        value = self._number()
        return (value >> 1) ^ -(value & 1)
