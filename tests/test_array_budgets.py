"""Pickled arrays that would take more memory or time than their size, or memory that is not theirs."""

import gc
import pickle
import struct
import tracemalloc

import numpy as np
import pytest

from lqm.utils.arrays import read_arrays
from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to

ENCODE = b"c_codecs\nencode\nq\x00"
RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"
FROMBUFFER = b"cnumpy.core.numeric\n_frombuffer\n"
SWAPPED = b"cnumpy\ndtype\n(S'i8'\nI0\nI1\ntR(I3\nS'>'\nNNNI-1\nI-1\nI0\ntb"


def refused(tmp_path, content, limit="20MB"):
    """The sentence about a file, which is read with less than three times the limit of memory."""
    (tmp_path / "f").write_bytes(content)
    del content
    gc.collect()
    with limited_to(limit):
        tracemalloc.start()
        with pytest.raises(DataError) as caught:
            read_arrays(tmp_path / "f")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 3 * 20 * 2**20
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600
    return str(caught.value)


def test_bytes_that_are_made_again_and_again_are_counted(tmp_path):
    text = b"V" + b"x" * 100_000 + b"\nq\x01"
    call = b"h\x00h\x01Vlatin1\n\x86R"
    sentence = refused(tmp_path, b"(" + ENCODE + text + call * 2000 + b"t.")
    assert "/f would take" in sentence
    assert "--max-memory" in sentence


def test_content_of_arrays_that_is_used_again_and_again_is_counted(tmp_path):
    content = b"B" + struct.pack("<I", 80_000) + bytes(80_000) + b"q\x01"
    array = RECONSTRUCT + b")R(I1\n(I10000\nt" + SWAPPED + b"I0\nh\x01tb"
    assert "would take" in refused(tmp_path, b"(" + content + array * 3000 + b"t.")


def test_a_file_larger_than_the_limit_is_not_read(tmp_path):
    assert "would take" in refused(tmp_path, pickle.dumps(bytes(3_000_000), 4), "2MB")


def test_many_small_containers_are_counted(tmp_path):
    assert "would take" in refused(tmp_path, b"(" + b"}" * 300_000 + b"t.")


def doubled(times):
    """A list that holds one list twice, which holds another one twice, and so on."""
    step = b"](h\x00h\x00eq\x00"
    return b"]K\x01aq\x00" + step * times


def test_lists_that_are_doubled_are_refused(tmp_path):
    assert "would take" in refused(tmp_path, doubled(28) + b".")
    assert "would take" in refused(tmp_path, doubled(200) + b".")
    (tmp_path / "f").write_bytes(doubled(4) + b".")
    assert str(read_arrays(tmp_path / "f")).count("1") == 2**4


def test_a_list_that_is_shared_by_many_is_counted_each_time(tmp_path):
    shared = b"](" + b"K\x01" * 10_000 + b"eq\x00"
    table = b"}(" + b"".join(b"M" + struct.pack("<H", key) + b"h\x00" for key in range(5000)) + b"u."
    assert "would take" in refused(tmp_path, shared + table)


@pytest.mark.parametrize(
    "content",
    [b")" + b"\x85" * 20_000, b"(" * 20_000 + b"l" * 20_000, b"}I1\n)" + b"\x85" * 20_000 + b"s"],
)
def test_what_is_deeply_nested_is_refused(tmp_path, content):
    assert "inside each other" in refused(tmp_path, content + b".", "1GB")


def test_a_list_that_holds_itself_is_refused(tmp_path):
    assert "inside each other" in refused(tmp_path, b"]q\x00h\x00a.")


@pytest.mark.parametrize(
    "content", [b"\x8b" + struct.pack("<i", 200_000) + b"\x7f" * 200_000, b"\x8a\x0a" + b"\x7f" * 10]
)
def test_numbers_of_more_than_64_bits_are_refused(tmp_path, content):
    assert "64 bits" in refused(tmp_path, b"\x80\x02" + content + b".")


def test_numbers_of_64_bits_come_back(tmp_path):
    numbers = [2**63 - 1, -(2**63), 2**64 - 1]
    (tmp_path / "f").write_bytes(pickle.dumps(numbers, 2))
    assert read_arrays(tmp_path / "f") == numbers


@pytest.mark.parametrize("arguments", [b"](" + b"K\x01" * 100 + b"e", b"(" + b"K\x01" * 100 + b"t", b"}"])
def test_a_call_has_a_few_arguments(tmp_path, arguments):
    assert "arguments" in refused(tmp_path, RECONSTRUCT + arguments + b"R.")


def test_an_array_is_no_view_of_the_memory_of_another_one_that_is_set_again(tmp_path):
    def state(length):
        content = b"B" + struct.pack("<I", 8 * length) + bytes(8 * length)
        return b"(I1\n(I" + str(length).encode() + b"\nt" + SWAPPED + b"I0\n" + content + b"tb"

    array = RECONSTRUCT + b")R" + state(1000) + b"q\x05"
    view = FROMBUFFER + b"(h\x05cnumpy\ndtype\n(S'i8'\nI0\nI1\ntR(I1000\ntS'C'\ntR"
    for content in (array + view, array + state(10)):
        assert "damaged" in refused(tmp_path, b"(" + content + b"t.")


def test_a_name_in_a_sentence_is_short_and_printable(tmp_path):
    for name in (b"a" * 100_000, b"\x1b[2J"):
        sentence = refused(tmp_path, b"c" + name + b"\nb\n.")
        assert sentence.isprintable()


def test_an_honest_file_is_read_within_a_few_times_its_size(tmp_path):
    batch = {
        b"data": np.zeros((1000, 3072), np.uint8),
        b"labels": list(range(1000)),
        b"filenames": [b"a"] * 1000,
    }
    (tmp_path / "f").write_bytes(pickle.dumps(batch, 2))
    with limited_to("16MB"):
        assert read_arrays(tmp_path / "f")[b"labels"] == batch[b"labels"]
