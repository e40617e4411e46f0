import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from lqm.images.sources import load_source
from lqm.utils.errors import ConfigError, DataError
from tests.images.sources.making import png, write

LABELS = [0, 1, 1, 0, 1, 0]


def images(seed, count=6, shape=(8, 8, 3)):
    return np.random.default_rng(seed).integers(0, 256, (count, *shape), dtype=np.uint8)


@pytest.mark.parametrize("column", ["img", "image", "anything"])
@pytest.mark.parametrize("label", ["label", "labels", "fine_label"])
def test_train_and_test_files_give_their_exact_pixels(tmp_path, column, label):
    train, test = images(0), images(1)
    for name, part in (("train", train), ("test", test)):
        contents = [png(p) for p in part]
        write(tmp_path / f"{name}.parquet", contents, LABELS, column=column, label=label, names=["no", "yes"])
    source = load_source(tmp_path, show_progress=False)
    assert source.name == tmp_path.name
    assert source.class_names == ("no", "yes")
    np.testing.assert_array_equal(source.train.images, train.transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(source.test.images, test.transpose(0, 3, 1, 2))
    assert source.train.labels.tolist() == source.test.labels.tolist() == LABELS
    with pytest.raises(ConfigError, match="test set"):
        load_source(tmp_path, test_fraction=0.1)


@pytest.mark.parametrize("end", ["test", "val", "validation"])
@pytest.mark.parametrize("folder", ["", "data"])
def test_shards_are_joined_in_order_also_in_a_folder_below(tmp_path, end, folder):
    parts = [images(seed) for seed in range(3)]
    for name, part in zip(
        ("train-00000-of-00002", "train-00001-of-00002", f"{end}-00000"), parts, strict=True
    ):
        write(tmp_path / "set" / folder / f"{name}.parquet", [png(p) for p in part], LABELS)
    source = load_source(tmp_path / "set")
    np.testing.assert_array_equal(source.train.images, np.concatenate(parts[:2]).transpose(0, 3, 1, 2))
    np.testing.assert_array_equal(source.test.images, parts[2].transpose(0, 3, 1, 2))
    assert source.train.labels.tolist() == LABELS * 2
    assert source.class_names == ("0", "1")


@pytest.mark.parametrize("flat", [False, True])
def test_one_file_is_split(tmp_path, flat):
    write(tmp_path / "mine.parquet", [png(p) for p in images(0)], LABELS, flat=flat)
    source = load_source(str(tmp_path / "mine.parquet"))
    assert source.name == "mine"
    assert torch.bincount(source.test.labels).tolist() == [1, 1]
    assert source.origin == {"source": str(tmp_path / "mine.parquet")}


def test_greyscale_among_colour_becomes_colour(tmp_path):
    grey = images(0, shape=(8, 8))
    write(tmp_path / "train.parquet", [png(p) for p in grey], LABELS)
    write(tmp_path / "test.parquet", [png(p) for p in images(1)], LABELS)
    source = load_source(tmp_path)
    np.testing.assert_array_equal(source.train.images, np.stack([grey] * 3, axis=1))


def test_size_is_kept_apart_in_the_cache(tmp_path):
    write(tmp_path / "mine.parquet", [png(p) for p in images(0, shape=(16, 12, 3))], LABELS)
    assert load_source(tmp_path / "mine.parquet", size=8).shape == (3, 8, 8)
    assert load_source(tmp_path / "mine.parquet", size=12).shape == (3, 12, 12)
    with pytest.raises(DataError, match=r"row 0 of .*mine\.parquet .*12x16.*--size 12"):
        load_source(tmp_path / "mine.parquet")


GOOD = [png(p) for p in images(0)]


@pytest.mark.parametrize(
    ("contents", "labels", "options", "sentence"),
    [
        ([*GOOD[:5], b"no"], LABELS, {}, r"row 5 of .*mine\.parquet .*known format"),
        ([*GOOD[:4], GOOD[4][:90], GOOD[5]], LABELS, {}, "row 4 of .*can't be read"),
        ([*GOOD[:2], None, *GOOD[3:]], LABELS, {}, r"row 2 of .*mine\.parquet "),
        (GOOD, LABELS, {"label": "target"}, "columns img, target; .*label, labels"),
        (GOOD, [0, 1, 3, 0, 1, 3], {"names": list("abcd")}, r"leave out 2;.*0 to 2\b"),
        (GOOD, [0, 1, -1, 0, 1, 0], {}, r"-1\b"),
        (GOOD, [0, 1, None, 0, 1, 0], {}, "'label' of .*not whole numbers"),
        (GOOD, list("abcabc"), {}, "not whole numbers"),
        (GOOD, LABELS, {"names": ["a", "b", "c"]}, "3 class names.*2 classes"),
        (GOOD, [0] * 6, {}, "one class"),
        ([*GOOD[:5], png(np.zeros((9, 9), np.uint8))], LABELS, {}, "row 0 of .* 8x8 .*row 5 of .* 9x9"),
    ],
)
def test_rows_that_cant_be_used_say_which_and_why(tmp_path, contents, labels, options, sentence):
    write(tmp_path / "mine.parquet", contents, labels, **options)
    with pytest.raises(DataError, match=sentence) as caught:
        load_source(tmp_path / "mine.parquet", show_progress=False)
    assert "\n" not in str(caught.value)


def test_a_column_without_images_is_refused(tmp_path):
    pq.write_table(pa.table({"image": [1, 2], "label": [0, 1]}), tmp_path / "mine.parquet")
    with pytest.raises(DataError, match=r"'image' of .*int64"):
        load_source(tmp_path / "mine.parquet")


def test_files_of_other_names_are_refused(tmp_path):
    write(tmp_path / "mine.parquet", GOOD, LABELS)
    with pytest.raises(DataError, match=r"train\*\.parquet"):
        load_source(tmp_path)


def test_an_empty_file_is_refused(tmp_path):
    write(tmp_path / "mine.parquet", [], pa.array([], pa.int64()))
    with pytest.raises(DataError, match=r"'label' of .*mine\.parquet .*empty"):
        load_source(tmp_path / "mine.parquet")


def test_parts_need_the_same_class_names(tmp_path):
    write(tmp_path / "train.parquet", GOOD, LABELS, names=["a", "b"])
    write(tmp_path / "test.parquet", GOOD, LABELS, names=["b", "a"])
    with pytest.raises(DataError, match="class names"):
        load_source(tmp_path)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "mine.parquet"
    write(path, GOOD, LABELS)
    whole = path.read_bytes()
    for content in (whole[:-20], b"", whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"mine\.parquet .*(read|damaged).* \(") as caught:
            load_source(path)
        assert "\n" not in str(caught.value)
