"""Condensed tables: as files, for training, and for other tools."""

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

import lqm
from lqm.condensed import CondensedTable
from lqm.condensed.artefact import write_artefact
from lqm.condensed.export import export
from lqm.condensed.standardisation import Standardisation
from lqm.utils.errors import ArtifactError, ConfigError, DataError

ROWS = torch.randn(6, 2, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor([0, 0, 0, 1, 1, 1])
BY = Standardisation(*torch.tensor([[1e9, 0.5], [10.0, 1e-3]], dtype=torch.float64))
NAMES = {"feature_names": ["time", "label"]}


def table(**manifest):
    return CondensedTable(ROWS, LABELS, ("no", "yes"), NAMES | manifest, standardisation=BY)


def test_rows_come_back_from_a_folder_as_they_were(tmp_path):
    table(per_class=3).save(tmp_path / "set")
    again = lqm.load(tmp_path / "set")
    assert isinstance(again, CondensedTable)
    assert again.data.equal(ROWS)
    assert again.labels.equal(LABELS)
    assert (again.class_names, again.feature_names) == (("no", "yes"), ("time", "label"))
    assert again.standardisation.digest == BY.digest
    assert again.manifest["format"] == 5


def test_records_are_in_the_units_of_the_source_and_the_dataset_is_standardised():
    features, labels = table().records()
    expected = ROWS.double().numpy() * [10.0, 1e-3] + [1e9, 0.5]
    np.testing.assert_allclose(features, expected, rtol=1e-15)
    assert labels.equal(LABELS)
    assert table().dataset().tensors[0].equal(ROWS)
    torch.testing.assert_close(table().standardised(features), ROWS, rtol=0, atol=1e-4)
    with pytest.raises(DataError, match=r"should be \[N, 2\]"):
        table().standardised(features[:, :1])


@pytest.mark.parametrize("form", ["csv", "npz", "parquet"])
def test_exports_are_read_by_pandas_and_numpy_and_again_as_a_table(tmp_path, form):
    path = export(table(), form, tmp_path / "rows")
    features = table().records()[0].numpy()
    if form == "npz":
        with np.load(path) as found:
            np.testing.assert_array_equal(found["X"], features)
            assert found["y"].tolist() == LABELS.tolist()
            np.testing.assert_array_equal(found["scale"], BY.scale)
    else:
        frame = pd.read_csv(path) if form == "csv" else pd.read_parquet(path)
        np.testing.assert_allclose(frame[["time", "label"]], features, rtol=1e-15)
        assert frame["label_"].tolist() == ["no"] * 3 + ["yes"] * 3
    again = lqm.load_table(path)
    assert again.class_names == ("no", "yes")
    assert again.feature_names == ("time", "label")


def test_tensors_are_exported_standardised(tmp_path):
    found = load_file(export(table(), "torch", tmp_path / "rows"))
    assert found["rows"].equal(ROWS)
    assert found["mean"].equal(BY.mean)


def test_a_table_has_no_pictures(tmp_path):
    with pytest.raises(ConfigError, match="export of rows"):
        export(table(), "folder", tmp_path / "rows")


@pytest.mark.parametrize(
    ("tensors", "manifest", "message"),
    [
        ({"scale": torch.zeros(2).double()}, {}, "'scale' holds numbers that are no scale"),
        ({"mean": torch.zeros(2)}, {}, r"'mean' are float32 of shape \[2\], and should be float64"),
        ({"mean": torch.zeros(3).double()}, {}, r"should be float64 of shape \[2\]"),
        ({"rows": torch.full((6, 2), torch.nan)}, {}, "hold NaN"),
        ({"labels": torch.full((6,), 2)}, {}, "'labels' go from 2 to 2"),
        ({"labels": torch.full((6,), -1)}, {}, "should be 0 to 1"),
        ({}, {"feature_names": ["one"]}, "have 2 features, and the manifest has 1 'feature_names'"),
        ({"mean": None}, {}, "has no 'mean', which every set of rows has"),
    ],
)
def test_what_a_stranger_sealed_is_checked(tmp_path, tensors, manifest, message):
    whole = {name: part for name, part in (table().tensors() | tensors).items() if part is not None}
    write_artefact(tmp_path / "set", whole, {"class_names": ["no", "yes"], **NAMES, **manifest})
    with pytest.raises(ArtifactError, match=message):
        lqm.load(tmp_path / "set")


def test_a_changed_byte_is_refused(tmp_path):
    table().save(tmp_path / "set")
    (path,) = (tmp_path / "set").glob("data-*")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(ArtifactError, match="SHA-256"):
        lqm.load(tmp_path / "set")


def test_a_table_is_shown_in_a_line():
    assert repr(table()) == "CondensedTable(6 of 2 classes, 2 features)"
