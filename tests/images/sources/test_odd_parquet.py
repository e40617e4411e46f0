"""Parquet files with odd metadata, columns and types: one sentence each."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lqm.images.sources import load_source
from lqm.utils.errors import DataError
from tests.images.sources.making import png, write

LABELS = [0, 1, 0, 1, 0, 1]


def refused(sentence, source):
    with pytest.raises(DataError, match=sentence) as caught:
        load_source(source, show_progress=False)
    assert "\n" not in str(caught.value)


def good():
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 8, 3), dtype=np.uint8)
    return [png(image) for image in pixels]


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        (b"[" * 100_000, "metadata 'huggingface' .*recursion"),
        (b"\xff\xfe{", "metadata 'huggingface'"),
        (json.dumps({"info": {"features": {"label": {"names": "abc"}}}}), "class names .*no list"),
        (json.dumps({"info": {"features": {"label": {"names": [1, 2]}}}}), "class names .*no list"),
        (json.dumps({"info": {"features": {"label": {"names": ["a"] * 10**5}}}}), "100000 class names"),
    ],
)
def test_metadata_that_cant_be_used_is_one_sentence(tmp_path, metadata, sentence):
    table = pa.table({"image": good(), "label": LABELS}).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, tmp_path / "mine.parquet")
    refused(sentence, tmp_path / "mine.parquet")


def test_metadata_of_another_shape_is_passed_over(tmp_path):
    for metadata in ("[]", "null", "{}", '{"info": []}', '{"info": {"features": {"label": 3}}}'):
        table = pa.table({"image": good(), "label": LABELS}).replace_schema_metadata(
            {"huggingface": metadata}
        )
        pq.write_table(table, tmp_path / "mine.parquet")
        assert load_source(tmp_path / "mine.parquet", show_progress=False).class_names == ("0", "1")


@pytest.mark.parametrize(
    "labels",
    [
        pa.array([[0], [1]] * 3),
        pa.array([{"a": 0}, {"a": 1}] * 3),
        pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int64())),
        pa.array([0, 1] * 3, pa.decimal128(5, 0)),
        pa.array([0, 1] * 3, pa.timestamp("s")),
        pa.array([True, False] * 3),
        pa.nulls(6),
        pa.array([b"\xff"] * 6),
    ],
    ids=lambda array: str(array.type),
)
def test_columns_of_other_types_are_no_labels(tmp_path, labels):
    pq.write_table(pa.table({"image": good(), "label": labels}), tmp_path / "mine.parquet")
    refused(r"'label' of .*not whole numbers", tmp_path / "mine.parquet")


@pytest.mark.parametrize(
    "images",
    [
        pa.array([[b"a"]] * 6),
        pa.array([b"abcd"] * 6, pa.binary(4)),
        pa.array([{"bytes": [b"a"]}] * 6),
        pa.array([{"bytes": {"bytes": b"a"}}] * 6),
        pa.nulls(6),
    ],
    ids=lambda array: str(array.type),
)
def test_columns_of_other_types_are_no_images(tmp_path, images):
    pq.write_table(pa.table({"image": images, "label": LABELS}), tmp_path / "mine.parquet")
    refused(r"'image' of .*has type .*bytes of image files", tmp_path / "mine.parquet")


def test_odd_columns_are_one_sentence(tmp_path):
    path = tmp_path / "mine.parquet"
    write(path, good(), LABELS, column="image")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"label", b"\xff\xfel\x1b]"))
    refused(r"mine\.parquet ", path)
    pq.write_table(pa.table([good(), good(), LABELS], names=["image", "image", "label"]), path)
    refused("2 columns 'image'", path)
    pq.write_table(pa.table({"\x1b[31m" * 99: [1]}), path)
    with pytest.raises(DataError) as caught:
        load_source(path)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000
    schema = pa.schema([("image", pa.binary()), ("label", pa.int64())])
    with pq.ParquetWriter(path, schema):
        pass
    refused("'label' of .*empty", path)


def test_a_footer_that_claims_other_numbers_of_rows_is_refused(tmp_path):
    """The footer's number of rows, 6, is written as 12 in Thrift's zigzag code after the fields before it."""
    path = tmp_path / "mine.parquet"
    write(path, good(), LABELS, flat=True)
    whole = path.read_bytes()
    assert pq.read_metadata(path).num_rows == 6
    start = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    found = 0
    for place in range(start, len(whole) - 8):
        if whole[place] == 12:
            path.write_bytes(whole[:place] + bytes([10]) + whole[place + 1 :])
            try:
                changed = pq.read_metadata(path).num_rows == 5
            except Exception:
                continue
            if changed:
                found += 1
                refused("mine.parquet .*5 rows", path)
    assert found
