"""How large the pages of a Parquet column are, by their own headers.

A page names the size that it unpacks to, and a reader takes that memory. The footer has sums of these sizes,
but nothing holds it to the truth. The footer is read here and not by pyarrow, whose description of a damaged
column ends the process.
"""

from typing import BinaryIO

from lqm.utils.errors import DataError
from lqm.utils.files import size_of
from lqm.utils.limits import require_memory
from lqm.utils.thrift import I32, I64, LIST, STRUCT, Compact, Fields, field, required

_HEADER, _LONGEST_HEADER = 1 << 10, 1 << 24
_BYTES_A_BYTE = 200  # what a byte of the footer takes at most when it is read
_PADDING = 100  # bytes after a column that are read with it, since some old writers counted too few
_COUNTS = {0: 5, 3: 8}  # the field with the number of values, by the type of a page; others have none


def check_footer(file: BinaryIO, place: str) -> int:
    """The length of the footer, if what it describes is within the limit of memory, to be asked for first."""
    file.seek(max(size_of(file) - 8, 0))
    length = int.from_bytes(file.read(4), "little")
    require_memory(_BYTES_A_BYTE * min(length, size_of(file)), f"the footer of {place}")
    file.seek(0)
    return length


def largest_page(file: BinaryIO, leaf: int, place: str) -> int:
    """The bytes that the largest page of a column unpacks to, if all of them are within the limit of memory.

    Args:
        file: the file.
        leaf: the number of the column among the leaves of the schema.
        place: what to call the column.
    """
    largest = 1
    try:
        groups = required(_footer(file, place), 4, LIST)
        chunks = [required(required(group, 1, LIST)[leaf], 3, STRUCT) for group in groups]
        for chunk in chunks:
            require_memory(2 * required(chunk, 7, I64), place)
            pages = _largest(file, chunk)
            # The dictionary and one page are unpacked at a time, and values are built of both.
            require_memory(4 * pages, place)
            largest = max(largest, pages)
    except (IndexError, ValueError, OverflowError, TypeError, AttributeError, OSError) as error:
        raise DataError(
            f"{place} is damaged (its footer or the header of a page); make or fetch the file again"
        ) from error
    return largest


def _footer(file: BinaryIO, place: str) -> Fields:
    length = check_footer(file, f"the file of {place}")
    file.seek(size_of(file) - 8 - length)
    return Compact(file.read(length)).struct()


def _largest(file: BinaryIO, chunk: Fields) -> int:
    """What the largest page of a chunk of a column unpacks to."""
    offset = required(chunk, 9, I64)
    dictionary = field(chunk, 11, I64)
    if dictionary is not None and 0 < dictionary < offset:
        offset = dictionary
    end, values = offset + required(chunk, 7, I64) + _PADDING, required(chunk, 5, I64)
    largest = came = 0
    while offset < end and came < values:
        header, length = _header(file, offset)
        unpacked, packed = required(header, 2, I32), required(header, 3, I32)
        counting = _COUNTS.get(required(header, 1, I32))
        count = required(required(header, counting, STRUCT), 1, I32) if counting else 0
        if min(unpacked, packed, count) < 0:
            raise ValueError("a page of a negative size")
        largest, came = max(largest, unpacked), came + count
        offset += length + packed
    return int(largest)


def _header(file: BinaryIO, offset: int) -> tuple[Fields, int]:
    """The fields of the header of the page at an offset, and its length."""
    for most in (_HEADER, _LONGEST_HEADER):
        file.seek(offset)
        reader = Compact(file.read(most))
        try:
            return reader.struct(), reader.place
        except IndexError:
            if len(reader.content) < most:
                raise
    raise ValueError("a header that does not end")
