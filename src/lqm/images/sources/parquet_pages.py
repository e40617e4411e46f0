"""How large the pages of a Parquet column are, by their own headers.

A page names the size that it unpacks to, and a reader takes that memory. The footer has sums of these sizes,
but nothing holds it to the truth. A header is a struct in Thrift's compact encoding: a byte with the distance
to the number of the field and its type, the value, and a zero byte at the end.
"""

from typing import Any, BinaryIO

import pyarrow.parquet as pq

from lqm.utils.errors import DataError
from lqm.utils.limits import require_memory

_HEADER, _LONGEST_HEADER = 1 << 10, 1 << 24
_UNPACKED, _PACKED, _DATA, _DATA_V2 = 2, 3, 5, 8
_DEEPEST = 16


def largest_page(file: BinaryIO, metadata: pq.FileMetaData, column: str, place: str) -> int:
    """The bytes that the largest page of a column unpacks to, if all of them are within the limit of memory.

    Args:
        file: the file.
        metadata: its footer.
        column: the path of a leaf in the schema.
        place: what to call the column.
    """
    largest = 1
    for group in range(metadata.num_row_groups):
        try:
            chunk = metadata.row_group(group).column(_leaf(metadata, column))
            packed, pages = chunk.total_compressed_size, _walk(file, chunk)
        except Exception as error:  # of a damaged footer, pyarrow can raise nearly anything
            raise DataError(
                f"{place} is damaged (the header of a page); make or fetch the file again"
            ) from error
        # The dictionary and one page are unpacked at a time, and values are built of both.
        require_memory(2 * packed + 4 * pages, place)
        largest = max(largest, pages)
    return largest


def _leaf(metadata: pq.FileMetaData, column: str) -> int:
    """The number of a leaf of the schema; a chunk has a path of its own, which may be another."""
    paths = [metadata.schema.column(number).path for number in range(metadata.num_columns)]
    return paths.index(column)


def _walk(file: BinaryIO, chunk: pq.ColumnChunkMetaData) -> int:
    """What the largest page of a chunk unpacks to."""
    offset = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < offset:
        offset = chunk.dictionary_page_offset
    end = offset + chunk.total_compressed_size
    largest = values = 0
    while offset < end and values < chunk.num_values:
        header, length = _header(file, offset)
        unpacked, packed = header[_UNPACKED], header[_PACKED]
        if min(unpacked, packed) < 0:
            raise ValueError("a page of a negative size")
        largest = max(largest, unpacked)
        data = header.get(_DATA) or header.get(_DATA_V2)
        values += max(0, data[1]) if data else 0
        offset += length + packed
    return largest


def _header(file: BinaryIO, offset: int) -> tuple[dict[int, Any], int]:
    """The fields of the header at an offset, and its length."""
    for length in (_HEADER, _LONGEST_HEADER):
        file.seek(offset)
        reader = _Compact(file.read(length))
        try:
            fields = reader.struct()
            if not isinstance(fields.get(_UNPACKED), int) or not isinstance(fields.get(_PACKED), int):
                raise ValueError("a page without sizes")
            for part in (_DATA, _DATA_V2):
                if part in fields and not (
                    isinstance(fields[part], dict) and isinstance(fields[part].get(1), int)
                ):
                    raise ValueError("a page without a number of values")
            return fields, reader.place
        except IndexError:
            if len(reader.content) < length or length == _LONGEST_HEADER:
                raise
    raise AssertionError("unreachable")


class _Compact:
    """Reads values in Thrift's compact encoding."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        if depth > _DEEPEST:
            raise ValueError("structs too deep")
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            fields[number] = (kind == 1) if kind in (1, 2) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        match kind:
            case 1 | 2:
                return self._byte()
            case 3:
                self._skip(1)
            case 4 | 5 | 6:
                return self._signed()
            case 7:
                self._skip(8)
            case 8:
                self._skip(self._number())
            case 9 | 10:
                self._list(depth)
            case 12:
                return self.struct(depth + 1)
            case _:
                raise ValueError(f"a value of the unknown type {kind}")
        return None

    def _list(self, depth: int) -> None:
        head = self._byte()
        count = self._number() if head >> 4 == 15 else head >> 4
        if depth > _DEEPEST or count > len(self.content):
            raise ValueError("a list that is too long or too deep")
        for _ in range(count):
            self._value(head & 15, depth + 1)

    def _byte(self) -> int:
        value = self.content[self.place]
        self.place += 1
        return value

    def _skip(self, count: int) -> None:
        self.place += count
        if self.place > len(self.content):
            raise IndexError("the header is cut off")

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
