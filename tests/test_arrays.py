"""Oracle: what Python's own module wrote."""

import collections
import contextlib
import os
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix

from lqm.utils.array_calls import SparseState
from lqm.utils.arrays import read_arrays
from lqm.utils.errors import DataError

ARRAYS = {
    "uint8": np.arange(24, dtype=np.uint8).reshape(2, 12),
    "int64": np.array([1, -2, 3]),
    "big-endian": np.array([1, 2, 3], dtype=">i4"),
    "float": np.array([[0.5]], dtype=np.float32),
    "fortran": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
}
PLAIN = {
    b"batch_label": b"testing batch 1 of 1",
    "labels": [0, 255, 70000, -1, 2**40, True, False, None],
    "nested": {"a": [], "b": (), "c": (1,), "d": (1, 2), "e": (1, 2, 3), "f": (1, 2, 3, 4), "g": {}},
    "text": "é" * 300,
    b"bytes": bytes(range(256)),
}
PLAIN["again"] = PLAIN["labels"]


@pytest.fixture
def random():
    return np.random.default_rng(0)


def same(first, second):
    if isinstance(second, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second)
    return type(first) is type(second) and first == second


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_values_come_back(tmp_path, protocol):
    (tmp_path / "f").write_bytes(pickle.dumps(PLAIN, protocol))
    assert read_arrays(tmp_path / "f") == PLAIN


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_come_back(tmp_path, protocol, name):
    content = pickle.dumps({"data": ARRAYS[name], "twice": ARRAYS[name]}, protocol)
    (tmp_path / "f").write_bytes(content)
    back, oracle = read_arrays(tmp_path / "f"), pickle.loads(content)  # noqa: S301 (made here)
    np.testing.assert_array_equal(back["data"], ARRAYS[name])
    assert same(back["data"], oracle["data"])
    assert same(back["twice"], oracle["twice"])


def python2(pixels, labels):
    """A batch byte by byte as Python 2 and its NumPy wrote it: strings are SHORT_BINSTRING and BINSTRING."""

    def short(text):
        return b"U" + bytes([len(text)]) + text

    def condensed(number):
        return b"M" + struct.pack("<H", number)

    shape = condensed(pixels.shape[0]) + condensed(pixels.shape[1]) + b"\x86"
    kind = b"cnumpy\ndtype\nq\x0a" + short(b"u1") + b"K\x00K\x01\x87Rq\x0b(K\x03" + short(b"|")
    kind += b"NNN" + b"J\xff\xff\xff\xff" * 2 + b"K\x00tb"
    content = b"\x89T" + struct.pack("<I", pixels.size) + pixels.tobytes()
    numpy_array = b"cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08K\x00\x85" + short(b"b")
    numpy_array += b"\x87Rq\x09(K\x01" + shape + kind + content + b"tb"
    numbers = b"".join(b"K" + bytes([label]) for label in labels)
    batch = b"\x80\x02}q\x01(" + short(b"labels") + b"q\x04]q\x05(" + numbers + b"e"
    return batch + short(b"data") + b"q\x06" + numpy_array + b"u."


def test_a_batch_of_python_2_comes_back(tmp_path, random):
    pixels = random.integers(0, 256, (4, 3072), dtype=np.uint8)
    content = python2(pixels, [3, 1, 4, 1])
    (tmp_path / "f").write_bytes(content)
    back = read_arrays(tmp_path / "f")
    assert back[b"labels"] == [3, 1, 4, 1]
    assert same(back[b"data"], pixels)
    oracle = pickle.loads(content, encoding="bytes")  # noqa: S301 (made here)
    assert same(back[b"data"], oracle[b"data"])


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
def test_a_program_is_refused_and_not_run(tmp_path, protocol):
    (tmp_path / "f").write_bytes(pickle.dumps({"data": Malicious(tmp_path / "made")}, protocol))
    with pytest.raises(DataError, match=r"f .*'(posix|nt)\.mkdir'.*not run"):
        read_arrays(tmp_path / "f")
    assert not (tmp_path / "made").exists()


def test_the_usual_attack_is_refused(tmp_path):
    (tmp_path / "f").write_bytes(b"cos\nsystem\n(S'echo run'\ntR.")
    with pytest.raises(DataError, match=r"'os\.system'"):
        read_arrays(tmp_path / "f")


DTYPE = b"cnumpy\ndtype\n(S'%s'\nI0\nI1\ntR"


@pytest.mark.parametrize(
    ("content", "thing"),
    [
        (pickle.dumps({"a": {1, 2}}, 4), "EMPTY_SET"),
        (pickle.dumps(1.5, 2), "BINFLOAT"),
        (pickle.dumps(np.array([{}], dtype=object), 2), "'O8'"),
        (b"(S'x'\nios\nsystem\n.", "INST"),
        (b"cnumpy\nndarray\n(I3\ntR.", r"'numpy\.ndarray'"),
        (b"I1\n(I3\ntR.", "call.*no function"),
        (b"]}b.", r"\blist\b"),
        (DTYPE % b"u1" + b"(I3\nS'|'\nNNNI1000\nI-1\nI0\ntb.", "type"),
        (b"c_codecs\nencode\n(V1\nVrot13\ntR.", "'rot13'"),
        (b"cbuiltins\neval\n.", r"'builtins\.eval'"),
    ],
)
def test_all_else_is_refused(tmp_path, content, thing):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=thing):
        read_arrays(tmp_path / "f")


@pytest.mark.parametrize("key", [(), (1, 2), None, True, np.arange(3)])
def test_keys_are_strings_bytes_or_whole_numbers(tmp_path, key):
    name = type(key).__name__
    content = b"\x80\x02}" + pickle.dumps(key, 2)[2:-1] + b"K\x01s."
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=f"key.*'{name}'"):
        read_arrays(tmp_path / "f")


DEEP = b")" + b"\x85" * 200_000
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(tR"


NESTED = [
    b"}" + DEEP + b"I1\ns.",
    b"(" + DEEP + b"I1\nd.",
    b"ccollections\ndefaultdict\n(tR" + DEEP + b"I1\ns.",
    DEEP + b")R.",
    b"cnumpy\ndtype\n" + DEEP + b"\x85R.",
    b"c_codecs\nencode\n(Vx\n" + DEEP + b"tR.",
    b"ccopy_reg\n_reconstructor\n(" + 2 * DEEP + b"NtR.",
    DEEP + b"}b.",
    DTYPE % b"u1" + b"(" + 2 * DEEP + b"NNNI-1\nI-1\nI0\ntb.",
    ARRAY + b"(I1\n" + DEEP + DTYPE % b"u1" + b"I0\nC\x00tb.",
    ARRAY + b"(I1\n((I1\nI2\ntI100000000000\nt" + DTYPE % b"u1" + b"I0\nC\x00tb.",
]
READ_ALL = f"""
import pathlib, sys
from {read_arrays.__module__} import read_arrays
from {DataError.__module__} import DataError
for path in sys.argv[1:]:
    try:
        read_arrays(pathlib.Path(path))
    except DataError:
        print("refused")
"""


def test_what_is_deeply_nested_is_refused_without_a_crash(tmp_path):
    paths = [tmp_path / str(number) for number in range(len(NESTED))]
    for path, content in zip(paths, NESTED, strict=True):
        path.write_bytes(content)
    # In a process of its own, since a crash would end all tests.
    done = subprocess.run([sys.executable, "-c", READ_ALL, *paths], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["refused"] * len(NESTED)


def test_a_file_that_is_cut_off_anywhere_is_refused_in_a_sentence(tmp_path):
    content = pickle.dumps({"data": ARRAYS["uint8"], "labels": [1, 2]}, 2)
    for length in range(len(content)):
        (tmp_path / "f").write_bytes(content[:length])
        with pytest.raises(DataError, match=r"/f .*(damaged.*again|asks)"):
            read_arrays(tmp_path / "f")


def test_a_file_with_a_changed_byte_never_raises_anything_else(tmp_path, random):
    content = pickle.dumps({"data": ARRAYS["int64"], "labels": [1, 2], "t": (1, 2)}, 4)
    for _ in range(300):
        changed = bytearray(content)
        changed[random.integers(len(content))] = random.integers(256)
        (tmp_path / "f").write_bytes(changed)
        with contextlib.suppress(DataError):
            read_arrays(tmp_path / "f")


def test_an_array_longer_than_its_content_is_refused(tmp_path):
    content = pickle.dumps(np.zeros(100, np.uint8), 2).replace(b"K\x64\x85", b"K\x65\x85")
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match="length"):
        read_arrays(tmp_path / "f")


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_a_sparse_matrix_is_a_record_of_its_pieces(tmp_path, protocol):
    matrix = csr_matrix(np.array([[0, 1.5, 0], [2, 0, 0]], np.float32))
    (tmp_path / "f").write_bytes(pickle.dumps(matrix, protocol))
    record = read_arrays(tmp_path / "f")
    assert type(record) is SparseState
    assert record.state["_shape"] == (2, 3)
    for piece in ("data", "indices", "indptr"):
        assert same(record.state[piece], getattr(matrix, piece))


def test_a_sparse_matrix_of_python_2_is_a_record_too(tmp_path):
    numbers = pickle.dumps(np.array([3, 4], np.int32), 2)[2:-1]
    head = b"\x80\x02cscipy.sparse.csr\ncsr_matrix\nq\xf0)\x81q\xf1}q\xf2("
    (tmp_path / "f").write_bytes(head + b"U\x06_shapeK\x02K\x03\x86U\x04data" + numbers + b"ub.")
    state = read_arrays(tmp_path / "f").state
    assert state["_shape"] == (2, 3)
    assert state["data"].tolist() == [3, 4]


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_dictionary_that_grows_comes_back_as_a_plain_one(tmp_path, protocol):
    graph = collections.defaultdict(list, {0: [1, 2], 1: [0], 2: []})
    (tmp_path / "f").write_bytes(pickle.dumps(graph, protocol))
    back = read_arrays(tmp_path / "f")
    assert type(back) is dict
    assert back == graph


@pytest.mark.parametrize(
    ("content", "thing"),
    [
        (pickle.dumps(coo_matrix(np.eye(2)), 2), r"'scipy\.sparse\._coo\.coo_matrix'"),
        (pickle.dumps(collections.defaultdict(dict), 2), r"'__builtin__\.dict'"),
        (pickle.dumps(collections.defaultdict(os.getcwd), 2), r"'(posix|nt)\.getcwd'"),
        (pickle.dumps(collections.OrderedDict(), 2), r"'collections\.OrderedDict'"),
        (b"ccollections\ndefaultdict\n(cscipy.sparse.csr\ncsr_matrix\ntR.", "dictionary"),
        (b"c__builtin__\nobject\n)\x81.", "no sparse matrix"),
        (b"c__builtin__\nlist\n(I3\ntR.", "call.*'list'"),
        (b"cscipy.sparse.csr\ncsr_matrix\n(I3\ntR.", r"call.*'scipy\.sparse\.csr_matrix'"),
        (b"cscipy.sparse.csr\ncsr_matrix\n(I3\nt\x81.", "no sparse matrix"),
        (b"cnumpy\nndarray\n)\x81.", "no sparse matrix"),
    ],
)
def test_other_objects_stay_refused(tmp_path, content, thing):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(DataError, match=thing):
        read_arrays(tmp_path / "f")


def test_a_sparse_matrix_with_a_program_inside_is_refused_and_not_run(tmp_path):
    matrix = csr_matrix(np.eye(2))
    matrix.extra = Malicious(tmp_path / "made")
    (tmp_path / "f").write_bytes(pickle.dumps(matrix, 2))
    with pytest.raises(DataError, match="not run"):
        read_arrays(tmp_path / "f")
    assert not (tmp_path / "made").exists()
