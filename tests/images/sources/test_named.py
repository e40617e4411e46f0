"""The published layouts, made small: 3 or 4 classes with a few images."""

import gzip
import os
import pickle
import struct

import numpy as np
import pytest
import torch
from PIL import Image

from lqm.images.augment import OPERATIONS
from lqm.images.sources import load_source
from lqm.utils.errors import ConfigError, DataError
from tests.images.sources.making import png, write

LABELS = [0, 1, 2, 0, 1, 2]


def check(source, train, test, name, labels=LABELS):
    np.testing.assert_array_equal(source.train.images, train)
    np.testing.assert_array_equal(source.test.images, test)
    assert source.train.labels.tolist() == source.test.labels.tolist() == labels
    assert source.name == source.recipes == name


@pytest.fixture
def digits28(random):
    return [random.integers(0, 256, (6, 28, 28), dtype=np.uint8) for _ in range(2)]


def write_idx(path, array, zipped):
    content = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()
    path.parent.mkdir(parents=True, exist_ok=True)
    if zipped:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(content))
    else:
        path.write_bytes(content)


@pytest.mark.parametrize("folder", ["", "mnist", "MNIST/raw"])
@pytest.mark.parametrize("mark", ["-", "."])
@pytest.mark.parametrize("zipped", [False, True])
def test_mnist_is_read_from_idx_files(tmp_path, digits28, folder, mark, zipped):
    for part, pixels in zip(("train", "t10k"), digits28, strict=True):
        write_idx(tmp_path / folder / f"{part}-images{mark}idx3-ubyte", pixels, zipped)
        write_idx(tmp_path / folder / f"{part}-labels{mark}idx1-ubyte", np.array(LABELS, np.uint8), zipped)
    source = load_source("mnist", data_dir=tmp_path)
    check(source, *(pixels[:, None] for pixels in digits28), "mnist")
    assert source.class_names == ("0", "1", "2")
    assert "flip" not in source.augmentation
    assert source.mean.tolist() == pytest.approx([0.1307])
    assert source.std.tolist() == pytest.approx([0.3081])


@pytest.mark.parametrize("keys", ["train_x train_y test_x test_y", "x_train y_train x_test y_test"])
@pytest.mark.parametrize("folder", ["", "mnist"])
def test_mnist_is_read_from_npz(tmp_path, digits28, keys, folder):
    (tmp_path / folder).mkdir(exist_ok=True)
    arrays = (digits28[0], LABELS, digits28[1], LABELS)
    np.savez(tmp_path / folder / "mnist.npz", **dict(zip(keys.split(), arrays, strict=True)))
    check(load_source("mnist", data_dir=tmp_path), *(pixels[:, None] for pixels in digits28), "mnist")


def test_mnist_is_read_from_parquet(tmp_path, digits28):
    for part, pixels in zip(("train", "test"), digits28, strict=True):
        path = tmp_path / "mnist" / "mnist" / f"{part}-00000-of-00001.parquet"
        write(path, [png(p) for p in pixels], LABELS, column="image")
    check(load_source("mnist", data_dir=tmp_path), *(pixels[:, None] for pixels in digits28), "mnist")


def test_damaged_idx_files_are_refused(tmp_path, digits28):
    images, labels = tmp_path / "train-images-idx3-ubyte", tmp_path / "train-labels-idx1-ubyte"
    write_idx(images, digits28[0], False)
    with pytest.raises(DataError, match="train-labels-idx1-ubyte"):
        load_source("mnist", data_dir=tmp_path)
    write_idx(labels, np.array(LABELS, np.uint8), False)
    images.write_bytes(images.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte .*cut off; .*again"):
        load_source("mnist", data_dir=tmp_path)
    for content in (b"", b"\0\0\x08\x03\0"):
        images.write_bytes(content)
        with pytest.raises(DataError, match=r"train-images-idx3-ubyte .*idx file"):
            load_source("mnist", data_dir=tmp_path)
    images.unlink()
    write_idx(images, digits28[0], True)
    zipped = tmp_path / "train-images-idx3-ubyte.gz"
    for content in (zipped.read_bytes()[:-50], b"no gzip"):
        zipped.write_bytes(content)
        with pytest.raises(DataError, match=r"idx3-ubyte\.gz .*idx file"):
            load_source("mnist", data_dir=tmp_path)


@pytest.fixture
def batches(random):
    """Five training batches of six images, and one for testing."""
    return [random.integers(0, 256, (6, 3072), dtype=np.uint8) for _ in range(6)]


BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
NAMES = ["plane", "car", "bird"]


def as_images(batches):
    return np.concatenate(batches).reshape(-1, 3, 32, 32)


def check10(source, batches):
    np.testing.assert_array_equal(source.train.images, as_images(batches[:5]))
    np.testing.assert_array_equal(source.test.images, as_images(batches[5:]))
    assert source.train.labels.tolist() == LABELS * 5
    assert source.class_names == ("plane", "car", "bird")
    assert source.recipes == "cifar10"
    assert source.augmentation == OPERATIONS
    assert source.mean.tolist() == pytest.approx([0.4914, 0.4822, 0.4465])
    assert source.std.tolist() == pytest.approx([0.2023, 0.1994, 0.2010])


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("itself", [False, True])
def test_cifar10_is_read_from_the_python_version(tmp_path, batches, protocol, itself):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    for name, pixels in zip(BATCHES, batches, strict=True):
        content = {b"data": pixels, b"labels": LABELS, b"batch_label": b"x", b"filenames": [b"a.png"]}
        (folder / name).write_bytes(pickle.dumps(content, protocol))
    (folder / "batches.meta").write_bytes(
        pickle.dumps({b"label_names": [n.encode() for n in NAMES]}, protocol)
    )
    check10(load_source("cifar10", data_dir=folder if itself else tmp_path), batches)
    (folder / "data_batch_4").unlink()
    with pytest.raises(DataError, match="data_batch_4"):
        load_source("cifar10", data_dir=tmp_path)


@pytest.mark.parametrize("itself", [False, True])
def test_cifar10_is_read_from_the_binary_version(tmp_path, batches, itself):
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    for name, pixels in zip(BATCHES, batches, strict=True):
        rows = np.concatenate([np.array(LABELS, np.uint8)[:, None], pixels], axis=1)
        (folder / f"{name}.bin").write_bytes(rows.tobytes())
    (folder / "batches.meta.txt").write_text("\n".join(NAMES) + "\n\n")
    check10(load_source("cifar10", data_dir=folder if itself else tmp_path), batches)
    (folder / "data_batch_2.bin").write_bytes(b"short")
    with pytest.raises(DataError, match=r"data_batch_2\.bin .*\b5 bytes.*3073.*again"):
        load_source("cifar10", data_dir=tmp_path)


@pytest.mark.parametrize("below", ["", "plain_text"])
@pytest.mark.parametrize("itself", [False, True])
def test_cifar10_is_read_from_parquet(tmp_path, batches, below, itself):
    folder = tmp_path / "cifar10"
    for name, part in (("train", batches[:5]), ("test", batches[5:])):
        contents = [png(image) for image in as_images(part).transpose(0, 2, 3, 1)]
        write(folder / below / f"{name}.parquet", contents, LABELS * len(part), names=NAMES)
    check10(load_source("cifar10", data_dir=folder if itself else tmp_path), batches)


def test_a_batch_with_something_else_in_it_is_refused(tmp_path, batches):
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    (folder / "meta").write_bytes(pickle.dumps({"fine_label_names": NAMES}, 2))
    for content, sentence in (
        ({"data": batches[0]}, "train .*'fine_labels'.*again"),
        ([1], "train .*'data'"),
        ({"data": batches[0][:, :9], "fine_labels": LABELS}, r"'data' of .*train .*uint8.*\[N, 3072\]"),
        ({"data": "text", "fine_labels": LABELS}, "'data' of .*uint8"),
        ({"data": batches[0], "fine_labels": [os.getcwd]}, "'.*getcwd'"),
        ({"data": batches[0], "fine_labels": [1, (2, 3)]}, "'fine_labels' of .*train .*6 whole numbers"),
    ):
        (folder / "train").write_bytes(pickle.dumps(content, 2))
        with pytest.raises(DataError, match=sentence):
            load_source("cifar100", data_dir=tmp_path)


def test_cifar100_is_read_by_its_fine_labels(tmp_path, batches):
    python, binary = tmp_path / "one" / "cifar-100-python", tmp_path / "two" / "cifar-100-binary"
    coarse = np.zeros((6, 1), np.uint8)
    for folder in (python, binary):
        folder.mkdir(parents=True)
    for name, pixels in zip(("train", "test"), batches[:2], strict=True):
        content = {b"data": pixels, b"fine_labels": LABELS, b"coarse_labels": [0] * 6}
        (python / name).write_bytes(pickle.dumps(content, 2))
        rows = np.concatenate([coarse, np.array(LABELS, np.uint8)[:, None], pixels], axis=1)
        (binary / f"{name}.bin").write_bytes(rows.tobytes())
        contents = [png(image) for image in as_images([pixels]).transpose(0, 2, 3, 1)]
        parquet = tmp_path / "three" / "cifar100" / f"{name}.parquet"
        write(parquet, contents, LABELS, label="fine_label", names=NAMES)
    (python / "meta").write_bytes(pickle.dumps({b"fine_label_names": NAMES}, 2))
    (binary / "fine_label_names.txt").write_text("\n".join(NAMES))
    for folder in ("one", "two", "three"):
        source = load_source("cifar100", data_dir=tmp_path / folder)
        check(source, as_images(batches[:1]), as_images(batches[1:2]), "cifar100")
        assert source.class_names == tuple(NAMES)
        assert source.mean.tolist() == pytest.approx([0.5071, 0.4866, 0.4409])
        assert source.std.tolist() == pytest.approx([0.2673, 0.2564, 0.2762])


@pytest.fixture
def tiny_imagenet(tmp_path):
    """Four classes, listed out of order; each image is of one grey level of its own."""
    folder = tmp_path / "tiny-imagenet-200"
    wnids = ["n04", "n01", "n03", "n02"]
    (folder / "val" / "images").mkdir(parents=True)
    lines = []
    for number, wnid in enumerate(wnids):
        (folder / "train" / wnid / "images").mkdir(parents=True)
        (folder / "train" / wnid / f"{wnid}_boxes.txt").write_text("0 0 1 1")
        for place in range(2):
            grey = 10 * int(wnid[1:]) + place
            image = Image.new("RGB" if number else "L", (64, 64), (grey, grey, grey) if number else grey)
            image.save(folder / "train" / wnid / "images" / f"{wnid}_{place}.JPEG", quality=100)
        Image.new("RGB", (64, 64), (200 + number,) * 3).save(
            folder / "val" / "images" / f"val_{number}.JPEG", quality=100
        )
        lines.append(f"val_{number}.JPEG\t{wnid}\t0\t0\t1\t1\n")
    (folder / "wnids.txt").write_text("\n".join(wnids) + "\n")
    (folder / "words.txt").write_text(
        "n01\tgoldfish, Carassius auratus\nn02\ttabby\nn04\tbus, coach\nn99\tx\n"
    )
    (folder / "val" / "val_annotations.txt").write_text("".join(lines))
    return folder


@pytest.mark.parametrize("itself", [False, True])
def test_tiny_imagenet_is_read_from_its_folders(tiny_imagenet, itself, capsys):
    folder = tiny_imagenet if itself else tiny_imagenet.parent
    source = load_source("tinyimagenet", data_dir=folder, show_progress=False)
    assert source.class_names == ("n01 goldfish", "n02 tabby", "n03", "n04 bus")
    assert source.shape == (3, 64, 64)
    assert source.train.labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert source.train.images[:, 0, 0, 0].tolist() == [10, 11, 20, 21, 30, 31, 40, 41]
    assert source.test.images[:, 0, 0, 0].tolist() == [200, 201, 202, 203]
    assert source.test.labels.tolist() == [3, 0, 2, 1]
    assert source.mean.tolist() == pytest.approx([0.485, 0.456, 0.406])
    assert source.std.tolist() == pytest.approx([0.229, 0.224, 0.225])
    assert capsys.readouterr().err == ""


def test_changed_names_and_labels_of_tiny_imagenet_are_noticed(tiny_imagenet):
    load_source("tinyimagenet", data_dir=tiny_imagenet)
    (tiny_imagenet / "words.txt").write_text("n01\tfish\n")
    annotations = tiny_imagenet / "val" / "val_annotations.txt"
    annotations.write_text(annotations.read_text().replace("n04", "n01"))
    source = load_source("tinyimagenet", data_dir=tiny_imagenet)
    assert source.class_names[0] == "n01 fish"
    assert source.test.labels.tolist() == [0, 0, 2, 1]


def test_tiny_imagenet_with_parts_missing_says_which(tiny_imagenet):
    def refused(sentence):
        with pytest.raises(DataError, match=sentence):
            load_source("tinyimagenet", data_dir=tiny_imagenet)

    (tiny_imagenet / "val" / "images" / "val_2.JPEG").unlink()
    refused(r"val_2\.JPEG .*unpack")
    (tiny_imagenet / "val" / "val_annotations.txt").write_text("val_0.JPEG\tn77\t0\n")
    refused(r"val_annotations\.txt .*'n77'.*wnids\.txt")
    (tiny_imagenet / "val" / "val_annotations.txt").unlink()
    refused(r"val_annotations\.txt .*unpack")
    (tiny_imagenet / "wnids.txt").write_text("n01\nn05\n")
    refused(r"n05.images .*\.JPEG.*unpack")


def test_tiny_imagenet_is_read_from_parquet(tmp_path, random):
    pixels = random.integers(0, 256, (6, 64, 64, 3), dtype=np.uint8)
    parts = {"train": pixels, "val": 255 - pixels}
    for name, part in parts.items():
        write(tmp_path / "tiny_imagenet_3" / f"{name}.parquet", [png(p) for p in part], LABELS)
    source = load_source("tinyimagenet", data_dir=tmp_path)
    check(source, *(part.transpose(0, 3, 1, 2) for part in parts.values()), "tinyimagenet")


@pytest.mark.parametrize("name", ["mnist", "cifar10", "cifar100", "tinyimagenet"])
def test_where_to_look_has_to_be_said(tmp_path, monkeypatch, name):
    with pytest.raises(ConfigError, match=f"'{name}'.*--data-dir.*LQM_DATA"):
        load_source(name)
    with pytest.raises(DataError, match=r"nowhere .*--data-dir.*LQM_DATA"):
        load_source(name, data_dir=tmp_path / "nowhere")
    monkeypatch.setenv("LQM_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"'{name}' .*{tmp_path}.*parquet"):
        load_source(name)


def test_options_and_origin_of_a_named_set(tmp_path, digits28, monkeypatch):
    np.savez(tmp_path / "mnist.npz", train_x=digits28[0], train_y=LABELS, test_x=digits28[1], test_y=LABELS)
    source = load_source("mnist", data_dir=tmp_path, size=14, augmentation=("flip",))
    assert source.origin == {
        "source": "mnist",
        "data_dir": str(tmp_path),
        "size": 14,
        "augmentation": ["flip"],
    }
    assert source.shape == (1, 14, 14)
    assert load_source(**source.origin).fingerprint == source.fingerprint
    with pytest.raises(ConfigError, match=r"'mnist'.*test set"):
        load_source("mnist", data_dir=tmp_path, test_fraction=0.5)
    monkeypatch.setenv("LQM_DATA", str(tmp_path))
    assert load_source("mnist").origin == {"source": "mnist"}


def test_a_set_of_other_channels_than_the_published_is_refused(tmp_path, random):
    pixels = random.integers(0, 256, (6, 28, 28, 3), dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", train_x=pixels, train_y=LABELS, test_x=pixels, test_y=LABELS)
    with pytest.raises(DataError, match=r"'mnist' .*\b3 channels.*\b1\b.*path"):
        load_source("mnist", data_dir=tmp_path)


REAL = os.environ.get("LQM_DATA")


@pytest.mark.slow
@pytest.mark.skipif(not REAL, reason="LQM_DATA is not set: no real data to read")
@pytest.mark.parametrize(
    ("name", "classes", "counts", "mean"),
    [
        ("mnist", 10, (60000, 10000), [0.1307]),
        ("cifar10", 10, (50000, 10000), [0.4914, 0.4822, 0.4465]),
        ("cifar100", 100, (50000, 10000), [0.5071, 0.4866, 0.4409]),
        ("tinyimagenet", None, None, None),
    ],
)
def test_the_real_sets_have_the_published_counts_and_means(name, classes, counts, mean):
    try:
        source = load_source(name, data_dir=REAL)
    except DataError as error:
        if f"'{name}'" in str(error) and REAL in str(error):
            pytest.skip(f"LQM_DATA has no {name}")
        raise
    if name == "tinyimagenet":
        classes = len(source.class_names)
        counts, mean = (500 * classes, 50 * classes), None
    assert len(source.class_names) == classes
    assert (len(source.train.labels), len(source.test.labels)) == counts
    assert len(set(torch.bincount(source.test.labels).tolist())) == 1 or name == "mnist"
    if mean:
        measured = source.train.images.double().mean(dim=(0, 2, 3)) / 255
        assert measured.tolist() == pytest.approx(mean, abs=1e-3)
