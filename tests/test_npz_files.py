"""Archives of arrays from anywhere; the oracle for good ones is NumPy's own reader."""

import io
import tracemalloc
import zipfile

import numpy as np
import pytest

from lqm.graphs.sources import is_graph, load_graph
from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from lqm.utils.limits import limited_to
from lqm.utils.npz import Arrays

ARRAYS = {
    "bytes": np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
    "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "swapped": np.array([1, 2, 3], ">i4"),
    "scalar": np.array(3.5),
    "none": np.zeros((0, 5)),
    "text": np.array(["a", "bc"]),
    "long": np.random.default_rng(0).random(300_000),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back_as_numpy_reads_them(tmp_path, save):
    save(tmp_path / "a.npz", **ARRAYS)
    found, oracle = Arrays(tmp_path / "a.npz"), np.load(tmp_path / "a.npz")
    assert found.keys == set(ARRAYS)
    for name, array in oracle.items():
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)
        assert found[name].flags.writeable


def header(kind, shape, version=1):
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(words).to_bytes(2 * version, "little") + words


def archive(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def read(path):
    """What the readers of graphs and of images say of a file."""
    for reader in (load_graph, load_source):
        with pytest.raises(DataError) as caught:
            reader(path)
        sentence = str(caught.value)
        assert "\n" not in sentence
        assert len(sentence) < 1000
        yield sentence


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


GRAPH = {"edge_index.npy": npy(np.array([[0, 1, 2, 3], [1, 2, 3, 0]])), "y.npy": npy(np.array([0, 1, 0, 1]))}
PIXELS = np.random.default_rng(0).integers(0, 256, (4, 8, 8), np.uint8)
IMAGES = {"images.npy": npy(PIXELS), "labels.npy": npy(np.array([0, 1, 0, 1]))}
MEMBERS = GRAPH | IMAGES


@pytest.mark.parametrize(
    "content",
    [
        header("<i8", "(5000000,)") + bytes(8 * 5_000_000),
        header("<i8", "(5000000,)"),
        header("<i8", "(1000000000000,)") + bytes(100),
        header("<i8", "(4,)") + bytes(20_000_000),
        b"\x93NUMPY\x02\x00" + (20_000_000).to_bytes(4, "little") + b" " * 20_000_000,
    ],
    ids=["large", "claims", "claims more", "longer than it claims", "header"],
)
def test_a_bomb_is_refused_before_it_is_inflated(tmp_path, content):
    path = archive(tmp_path / "bomb.npz", MEMBERS | dict.fromkeys(["y.npy", "images.npy"], content))
    assert path.stat().st_size < 2_000_000
    del content
    with limited_to("30MB"):
        tracemalloc.start()
        sentences = list(read(path))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert "'y' of" in sentences[0]
    assert "'images' of" in sentences[1]
    assert peak < 10_000_000


def test_arrays_that_fit_alone_are_refused_together(tmp_path):
    np.savez(tmp_path / "two.npz", one=np.zeros(100_000), two=np.zeros(100_000))
    with limited_to("1MB"):
        for name in ("one", "two"):
            assert len(Arrays(tmp_path / "two.npz")[name]) == 100_000
        arrays = Arrays(tmp_path / "two.npz")
        assert len(arrays["one"]) == len(arrays["one"])
        with pytest.raises(DataError, match=r"'two' of .*two\.npz .*limit of 1 MiB.*--max-memory"):
            arrays["two"]


def test_a_list_of_members_is_bounded_too(tmp_path):
    path = archive(tmp_path / "many.npz", {f"{number}.npy": b"" for number in range(3000)})
    with limited_to("1MB"), pytest.raises(DataError, match=r"list of the arrays of .*many\.npz "):
        is_graph(path)


def test_names_that_cant_be_printed_are_shown_without_and_not_all_of_them(tmp_path):
    names = ["\x1b[2J", "\udc80".encode("utf-8", "surrogatepass").decode("cp437"), *map(str, range(2000))]
    path = archive(tmp_path / "names.npz", dict.fromkeys(names, b""))
    for sentence in read(path):
        assert sentence.isprintable()
        assert "names.npz holds " in sentence
    content = path.read_bytes().replace(b"1999", b"\xed\xb2\x80\xff")
    path.write_bytes(content)
    for sentence in read(path):
        sentence.encode()


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("|O", "objects"), ("|V0", "objects|no bytes|damaged"), ("<U0", r"\(.+\).*again"), ("|V8", "plain")],
)
@pytest.mark.parametrize("shape", ["(4,)", "(1000000000000000,)"])
def test_values_that_are_none_are_refused(tmp_path, kind, sentence, shape):
    content = header(kind, shape)
    path = archive(tmp_path / "odd.npz", MEMBERS | dict.fromkeys(["y.npy", "images.npy"], content))
    for found in read(path):
        assert "odd.npz" in found
    with pytest.raises(DataError, match=sentence):
        load_graph(path)


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compressions_are_refused_whether_broken_or_not(tmp_path, compression):
    path = archive(tmp_path / "other.npz", MEMBERS, compression)
    for sentence in read(path):
        assert "compression" in sentence


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"\x93NUMPY", b"\x93NUMPY\x01\x00\xff", header("<i8", "(4")]
)
def test_a_member_that_is_no_array_is_refused(tmp_path, content):
    path = archive(tmp_path / "none.npz", MEMBERS | dict.fromkeys(["y.npy", "labels.npy"], content))
    graph, images = read(path)
    assert "'y' of " in graph
    assert "'labels' of " in images


def test_an_encrypted_member_is_refused_by_both_readers(tmp_path):
    path = archive(tmp_path / "secret.npz", MEMBERS, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = content.find(mark)
        while start >= 0:
            content[start + place] |= 1
            start = content.find(mark, start + 1)
    path.write_bytes(content)
    for sentence in read(path):
        assert "encrypted" in sentence


@pytest.mark.parametrize(
    "names",
    [
        np.array("a"),
        np.array([["a", "b"]]),
        np.array([1, 2]),
        np.array([1.5, 2]),
        np.array([0xFFFFFFFF, 1], np.uint32).view("<U1"),
    ],
)
def test_class_names_that_are_no_list_of_strings_are_refused(tmp_path, names):
    path = archive(tmp_path / "named.npz", MEMBERS | {"class_names.npy": npy(names)})
    for sentence in read(path):
        assert "class_names" in sentence
        assert "strings" in sentence


def test_class_names_that_are_not_unicode_are_mended(tmp_path):
    names = np.array(["ant\udc80", "bee"])
    x = {"x.npy": npy(np.arange(12.0).reshape(4, 3))}
    split = {
        f"{part}_mask.npy": npy(np.arange(4) // 2 == place) for place, part in enumerate(("train", "test"))
    }
    graph = archive(tmp_path / "graph.npz", GRAPH | x | split | {"class_names.npy": npy(names)})
    images = archive(tmp_path / "images.npz", IMAGES | {"class_names.npy": npy(names)})
    for source in (load_graph(graph), load_source(images)):
        assert source.class_names == ("ant?", "bee")
        assert source.fingerprint
