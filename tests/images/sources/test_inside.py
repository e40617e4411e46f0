"""Folders that someone else made: links, pipes and odd names."""

import os
import socket
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from lqm.utils.files import open_regular
from tests.images.sources.making import png, write

LABELS = [0, 1, 0, 1, 0, 1]


@pytest.fixture(autouse=True)
def never_waits():
    """A test that opens a pipe fails instead of waiting for ever."""
    stopped = threading.Event()

    def stop():
        if not stopped.wait(60):
            os._exit(99)

    threading.Thread(target=stop, daemon=True).start()
    yield
    stopped.set()


def total(source):
    return len(source.train.labels) + len(source.test.labels)


@pytest.fixture
def outside(tmp_path):
    """An image of one's own that no set may hold."""
    path = tmp_path / "private" / "secret.png"
    path.parent.mkdir()
    Image.new("RGB", (8, 8), (7, 77, 177)).save(path)
    return path


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()])
@pytest.mark.parametrize("flat", [False, True])
def test_a_path_in_a_column_is_never_opened(tmp_path, outside, text, flat):
    kind = text if flat else pa.struct([("bytes", text), ("path", pa.string())])
    rows = [str(outside) if flat else {"bytes": str(outside), "path": None}] * 6
    pq.write_table(pa.table({"image": pa.array(rows, kind), "label": LABELS}), tmp_path / "mine.parquet")
    with pytest.raises(DataError, match=r"'image' of .*mine\.parquet .*string.*bytes of image files"):
        load_source(tmp_path / "mine.parquet")


def test_a_path_to_a_pipe_in_a_column_is_never_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    kind = pa.struct([("bytes", pa.string()), ("path", pa.string())])
    rows = pa.array([{"bytes": str(tmp_path / "pipe"), "path": None}] * 6, kind)
    pq.write_table(pa.table({"image": rows, "label": LABELS}), tmp_path / "mine.parquet")
    with pytest.raises(DataError, match="string"):
        load_source(tmp_path / "mine.parquet")


def test_bytes_that_are_a_path_are_no_image(tmp_path, outside):
    write(tmp_path / "mine.parquet", [str(outside).encode()] * 6, LABELS)
    with pytest.raises(DataError, match=r"row 0 of .*known format"):
        load_source(tmp_path / "mine.parquet")


def test_links_out_of_a_folder_are_left_out_counted_and_named(class_folders, outside, tmp_path, capsys):
    root, _ = class_folders()
    (root / "cat" / "link.png").symlink_to(outside)
    (root / "cat" / "more").symlink_to(outside.parent)
    (root / "eel").symlink_to(outside.parent)
    source = load_source(root, show_progress=False)
    assert total(source) == 10
    assert source.class_names == ("cat", "dog")
    warning = capsys.readouterr().err
    assert all(part in warning for part in ("3 entries", "link.png", "cat/more", "eel", "out of it"))
    assert warning.count("\n") == 1


def test_links_inside_a_folder_and_the_folder_itself_may_be_links(class_folders, tmp_path, capsys):
    root, _ = class_folders()
    (root / "cat" / "5.png").symlink_to("../dog/0.png")
    (root / "eel").symlink_to("dog")
    (tmp_path / "typed").symlink_to(root)
    source = load_source(tmp_path / "typed", test_fraction=0.5, show_progress=False)
    assert source.class_names == ("cat", "dog", "eel")
    assert total(source) == 16
    assert "left out" not in capsys.readouterr().err


def test_links_that_lead_to_themselves_end(class_folders, capsys):
    root, _ = class_folders()
    (root / "cat" / "again").symlink_to("..")
    (root / "cat" / "round.png").symlink_to("round.png")
    assert total(load_source(root, show_progress=False)) == 10
    assert "2 entries" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["", "cat", "cat/deeper"])
def test_pipes_and_sockets_are_left_out_and_named(class_folders, place, capsys, monkeypatch):
    root, _ = class_folders()
    (root / place).mkdir(exist_ok=True)
    os.mkfifo(root / place / "pipe.png")
    monkeypatch.chdir(root / place)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.png")
        assert total(load_source(root, show_progress=False)) == 10
    warning = capsys.readouterr().err
    assert all(part in warning for part in ("2 entries", "pipe.png", "s.png"))


def test_parts_that_are_links_out_or_pipes_are_not_taken(class_folders, tmp_path, capsys):
    class_folders(tmp_path / "elsewhere")
    class_folders(tmp_path / "set" / "train")
    (tmp_path / "set" / "test").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"train/.*none of test/"):
        load_source(tmp_path / "set")
    assert "1 entry" in capsys.readouterr().err
    (tmp_path / "tables").mkdir()
    write(tmp_path / "one.parquet", [b""], [0])
    (tmp_path / "tables" / "train.parquet").symlink_to(tmp_path / "one.parquet")
    os.mkfifo(tmp_path / "tables" / "test.parquet")
    with pytest.raises(DataError, match="no class folder"):
        load_source(tmp_path / "tables")
    assert "2 entries" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("mnist", ["train-images-idx3-ubyte"]),
        ("mnist", ["mnist.npz"]),
        ("cifar10", ["cifar-10-batches-py/data_batch_1", "cifar-10-batches-py/batches.meta"]),
        ("cifar100", ["cifar-100-binary/train.bin", "cifar-100-binary/fine_label_names.txt"]),
        ("tinyimagenet", ["tiny-imagenet-200/wnids.txt"]),
        ("cifar10", ["cifar10/train.parquet"]),
    ],
)
def test_pipes_and_links_out_in_named_sets_are_not_opened(tmp_path, outside, name, files, capsys):
    for make in (os.mkfifo, lambda path: path.symlink_to(outside)):
        for file in (tmp_path / "data" / file for file in files):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            make(file)
        with pytest.raises(DataError, match=f"'{name}' was not found"):
            load_source(name, data_dir=tmp_path / "data")
        assert files[0].rpartition("/")[2] in capsys.readouterr().err


def test_a_pipe_that_takes_the_place_of_a_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r"regular file.*pipe"):
        open_regular(tmp_path / "pipe")


@pytest.fixture
def tiny(tmp_path, random):
    folder = tmp_path / "tiny-imagenet-200"
    (folder / "val" / "images").mkdir(parents=True)
    for wnid in ("n1", "n2"):
        (folder / "train" / wnid / "images").mkdir(parents=True)
        pixels = random.integers(0, 256, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "train" / wnid / "images" / "a.JPEG")
    (folder / "wnids.txt").write_text("n1\nn2\n")
    (folder / "words.txt").write_text("n1\tone\n")
    return folder


@pytest.mark.parametrize("above", ["../../../../private/secret.png", "{outside}"])
def test_names_in_the_files_of_tiny_imagenet_are_no_paths(tiny, outside, above):
    name = above.format(outside=outside)
    (tiny / "val" / "val_annotations.txt").write_text(f"{name}\tn1\n")
    with pytest.raises(DataError, match=r"images/.* is missing"):
        load_source("tinyimagenet", data_dir=tiny)
    (tiny / "wnids.txt").write_text("n1\n../../..\n")
    with pytest.raises(DataError, match=r"no \.JPEG images"):
        load_source("tinyimagenet", data_dir=tiny)


@pytest.mark.parametrize("name", [b"caf\xe9", b"red\x1b[31m", b"two\nlines", b"bell\x07"])
def test_names_that_are_no_text_are_those_of_classes_all_the_same(class_folders, name):
    root, _ = class_folders()
    (root / "dog").rename(root / os.fsdecode(name))
    (root / os.fsdecode(name) / "0.png").rename(root / os.fsdecode(name) / os.fsdecode(name + b".png"))
    source = load_source(root, show_progress=False)
    assert os.fsdecode(name) in source.class_names
    assert len(source.fingerprint) == 64


def test_names_with_spaces_and_signs_of_all_scripts_are_fine(class_folders):
    root, _ = class_folders()
    (root / "dog").rename(root / "犬　と\u202f猫 é")
    assert "犬　と\u202f猫 é" in load_source(root).class_names


@pytest.mark.parametrize("place", ["cat", "cat/deeper"])
def test_a_folder_that_may_not_be_listed_is_not_left_out(class_folders, monkeypatch, place):
    root, _ = class_folders()
    (root / place).mkdir(exist_ok=True)
    real = os.scandir

    def forbidden(path="."):
        if str(path) == str(root / place):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    with pytest.raises(DataError, match=rf"{place} can't be read: Permission denied"):
        load_source(root, show_progress=False)


def test_parquet_of_ones_own_may_be_a_link(tmp_path, random):
    contents = [png(pixels) for pixels in random.integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)]
    write(tmp_path / "real.parquet", contents, LABELS)
    (tmp_path / "typed.parquet").symlink_to("real.parquet")
    assert total(load_source(tmp_path / "typed.parquet")) == 6
