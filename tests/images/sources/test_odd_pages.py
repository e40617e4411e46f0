"""Parquet files that no library writes: pages that say one thing to one reader, another thing to another."""

import gzip
import struct

import numpy as np
import pytest

from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to
from tests.images.sources.making import png
from tests.peaks import memory_grows_by_at_most

DATA, DICTIONARY = 0, 2


def varint(number):
    digits = b""
    while number > 127:
        digits, number = digits + bytes([number & 127 | 128]), number >> 7
    return digits + bytes([number])


def i32(number):
    return 5, varint(2 * number)


def i64(number):
    return 6, varint(2 * number)


def text(content):
    return 8, varint(len(content)) + content


def struct_of(fields):
    """A struct in Thrift's compact encoding."""
    content, last = b"", 0
    for number, (kind, value) in sorted(fields.items()):
        content += bytes([number - last << 4 | kind]) + value
        last = number
    return 12, content + b"\0"


def list_of(kind, values):
    return 9, bytes([0xF0 | kind]) + varint(len(values)) + b"".join(value for _, value in values)


def page(kind, content, more):
    packed = gzip.compress(content)
    fields = {1: i32(kind), 2: i32(len(content)), 3: i32(len(packed)), **more}
    return struct_of(fields)[1] + packed


def data_page(values):
    return struct_of({1: i32(values), 2: i32(0), 3: i32(3), 4: i32(3)})


def column(kind, name, start, dictionary, length):
    lists = {2: list_of(5, [i32(0)]), 3: list_of(8, [text(name)])}
    numbers = {4: i32(2), 5: i64(4), 6: i64(1000), 7: i64(length), 9: i64(start)}
    first = {11: i64(dictionary)} if dictionary else {}
    return struct_of({2: i64(start), 3: struct_of({1: i32(kind), **lists, **numbers, **first})})


def footer_of(columns, schema):
    group = struct_of({1: list_of(12, columns), 2: i64(2000), 3: i64(4)})
    return struct_of({1: i32(1), 2: list_of(12, schema), 3: i64(4), 4: list_of(12, [group])})[1]


def leaf(kind, name):
    return struct_of({1: i32(kind), 3: i32(0), 4: text(name)})


def parquet(path, rows, told_of_the_dictionary):
    """Four images and labels; the header of the dictionary may also be told to be one of data."""
    values = b"".join(struct.pack("<I", len(row)) + row for row in rows)
    first = struct.pack("<I", len(rows[0])) + rows[0]
    described = {7: struct_of({1: i32(1), 2: i32(0)})}
    dictionary = page(DICTIONARY, first, {**described, **told_of_the_dictionary})
    images = dictionary + page(DATA, values, {5: data_page(4)})
    labels = page(DATA, np.array([0, 0, 1, 1], "<i8").tobytes(), {5: data_page(4)})
    schema = [struct_of({4: text(b"schema"), 5: i32(2)}), leaf(6, b"image"), leaf(2, b"label")]
    columns = [
        column(6, b"image", 4 + len(dictionary), 4, len(images)),
        column(2, b"label", 4 + len(images), None, len(labels)),
    ]
    footer = footer_of(columns, schema)
    path.write_bytes(b"PAR1" + images + labels + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


@pytest.fixture
def images():
    return [png(pixels) for pixels in np.random.default_rng(0).integers(0, 256, (4, 8, 8), np.uint8)]


def test_a_file_of_this_making_is_read(tmp_path, images):
    assert (
        len(load_source(parquet(tmp_path / "good.parquet", images, {}), test_fraction=0.5).train.labels) == 2
    )


def test_a_dictionary_that_is_told_to_be_data_does_not_hide_the_page_behind_it(tmp_path, images):
    rows = [images[0], images[1] + bytes(60 * 2**20), *images[2:]]
    path = parquet(tmp_path / "hidden.parquet", rows, {5: data_page(100)})
    assert path.stat().st_size < 2**18
    refused = pytest.raises(DataError, match=r"above the limit")
    with limited_to("50MB"), memory_grows_by_at_most(2**25), refused:
        load_source(path)


def test_a_footer_of_many_columns_is_weighed_before_it_is_read(tmp_path):
    schema = [struct_of({4: text(b"schema"), 5: i32(100_000)})] + [leaf(1, b"a")] * 100_000
    footer = struct_of({1: i32(1), 2: list_of(12, schema), 3: i64(0), 4: list_of(12, [])})[1]
    path = tmp_path / "wide.parquet"
    path.write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
    refused = pytest.raises(DataError, match=r"footer .*above the limit")
    with limited_to("50MB"), memory_grows_by_at_most(50 * 2**20), refused:
        load_source(path)
