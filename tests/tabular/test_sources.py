"""Tables: out of arrays and files, and what is refused of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import lqm
from lqm.api.domains import domain_of
from lqm.api.requests import CondenseRequest
from lqm.tabular import from_arrays, load_table
from lqm.tabular.sources import TABLES, is_table
from lqm.utils.errors import ConfigError, DataError

DRAWS = np.random.default_rng(0)
X = DRAWS.normal(size=(40, 3)) * [1, 1000, 1e-3] + [0, 1.7e9, 5]
Y = np.array(["no", "yes"] * 20)


@pytest.mark.parametrize("name", TABLES)
def test_a_built_in_table_has_a_fifth_of_each_class_held_out(name):
    source = load_table(name)
    train, test = (part.labels.bincount() for part in (source.train, source.test))
    assert ((test / (train + test) - 0.2).abs() < 0.02).all()
    assert source.origin == {"source": name}
    assert load_table(name).fingerprint == source.fingerprint


def test_standardisation_is_scikit_learns_and_a_constant_feature_stays_0():
    features = np.hstack([X, np.full((40, 1), 0.1)])
    source = from_arrays(features, Y)
    real = source.train.features.numpy()
    scaler = StandardScaler().fit(real)
    # A mean of equal numbers is not that number in every sum of floats.
    np.testing.assert_allclose(source.standardisation.mean, scaler.mean_, rtol=1e-12)
    np.testing.assert_allclose(source.standardisation.scale, scaler.scale_, rtol=1e-9)
    np.testing.assert_allclose(source.standardised_train.features, scaler.transform(real), atol=2e-6)
    assert (source.standardised_test.features[:, 3] == 0).all()
    undone = source.standardisation.undo(source.standardised_train.features)
    np.testing.assert_allclose(undone, real, rtol=1e-6)
    assert (undone[:, 3] == 0.1).all()


def test_test_rows_have_no_part_in_the_standardisation():
    source = from_arrays(X, Y)
    other = replace(source, test=replace(source.test, features=source.test.features + 1e6))
    assert other.standardisation.mean.equal(source.standardisation.mean)


def test_double_precision_is_kept_where_the_numbers_came_in_it():
    assert from_arrays(X, Y).train.features.dtype == torch.float64
    assert from_arrays(X.astype(np.float32), Y).train.features.dtype == torch.float32
    assert from_arrays(np.ones((4, 1), np.uint8), [0, 1] * 2, test_fraction=0).train.features.dtype == (
        torch.float32
    )


def test_names_come_from_a_frame_or_from_the_caller():
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "tall": [True, False, True, False]})
    assert from_arrays(frame, [1, 0, 1, 0]).feature_names == ("age", "tall")
    source = from_arrays(frame.to_numpy(), [7, 3, 7, 3], class_names=("three", "seven"))
    assert (source.class_names, source.feature_names) == (("three", "seven"), ("x0", "x1"))


def test_a_test_set_of_its_own_is_labelled_like_the_training_rows():
    source = from_arrays(X, Y, test=(X[:3], Y[:3]))
    assert len(source.train.labels) == 40
    assert source.test.labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("features", "labels", "options", "message"),
    [
        (np.where(X[7, 1] == X, np.nan, X), Y, {}, "has nan at row 7, column 1"),
        (np.where(X[7, 1] == X, np.inf, X), Y, {}, "has inf at row 7"),
        ([["a", 1.0]] * 4, [0, 1] * 2, {}, r"has 'a' at row 0, column 0, which is no number"),
        (
            pd.DataFrame({"age": [1, None], "name": ["x", "y"]}),
            [0, 1],
            {},
            r"has 'x' at row 0, column 'name'",
        ),
        (X[:, 0], Y, {}, r"shape \[40\]; it should be \[N, F\]"),
        (X[:0], Y[:0], {}, r"none of them 0"),
        (X, Y[:5], {}, r"y of 'table' has shape \[5\]; it should be \[40\]"),
        (X, np.linspace(0, 1, 40), {}, "labels that are not whole numbers"),
        (X, [None, 1] * 20, {}, "neither all whole numbers nor all texts"),
        (X, ["same"] * 40, {}, "only one class, 'same'"),
        (X, ["one"] + ["other"] * 39, {}, "class 'one' of 'table' has 1 row"),
        (X, Y, {"class_names": ["a"]}, "1 class names and 2 classes"),
        (X, Y, {"feature_names": ["a"]}, "1 feature names and 3 features"),
        (X, Y, {"test": (X, ["maybe"] * 40)}, "the label 'maybe', which no training row has"),
        (X, Y, {"test": (X[:, :2], Y)}, "3 features and 2 in its test rows"),
    ],
)
def test_what_is_no_table_is_refused_with_its_place(features, labels, options, message):
    with pytest.raises(DataError, match=message):
        from_arrays(features, labels, **options)


def test_a_share_that_is_none_is_refused():
    with pytest.raises(ConfigError, match=r"test_fraction = 1\.5"):
        from_arrays(X, Y, test_fraction=1.5)


def test_numbers_too_large_to_be_standardised_are_refused_by_name():
    source = from_arrays(np.array([[1.0, 1e300], [2.0, -1e300]] * 4), [0, 1] * 4, feature_names=("a", "huge"))
    with pytest.raises(DataError, match="'huge' of 'table' has numbers too large"):
        _ = source.standardisation


@pytest.fixture
def files(tmp_path):
    """One table in three forms."""
    frame = pd.DataFrame(X, columns=["a", "b.c", "d e"]).assign(kind=Y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=X, y=Y)
    return tmp_path


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_every_form_gives_the_same_rows(files, suffix):
    path = files / f"t.{suffix}"
    assert is_table(path)
    source, expected = load_table(path), from_arrays(X, Y)
    for part in ("train", "test"):
        assert getattr(source, part).features.equal(getattr(expected, part).features)
        assert getattr(source, part).labels.equal(getattr(expected, part).labels)
    assert source.class_names == ("no", "yes")
    assert source.feature_names == (("x0", "x1", "x2") if suffix == "npz" else ("a", "b.c", "d e"))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_column_of_labels_can_be_named(files, suffix):
    frame = pd.DataFrame({"class": [10, 2] * 10, "a": np.arange(20.0)})
    path = files / f"named.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    source = load_table(path, label="class")
    assert (source.class_names, source.feature_names) == (("2", "10"), ("a",))
    assert source.origin["label"] == "class"
    with pytest.raises(DataError, match="has no column 'klass'"):
        load_table(path, label="klass")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_a_message_names_a_file_as_it_was_given(files, suffix, monkeypatch):
    monkeypatch.chdir(files)
    assert load_table(f"t.{suffix}").origin["source"] == str(files / f"t.{suffix}")
    (files / f"t.{suffix}").write_bytes(b"a\n1\n")
    with pytest.raises(DataError, match=rf"^t\.{suffix} "):
        load_table(f"t.{suffix}")


def test_npz_may_have_a_test_set_and_names(tmp_path):
    np.savez(tmp_path / "t.npz", X=X, y=Y, X_test=X[:4], y_test=Y[:4], class_names=np.array(["n", "y"]))
    source = load_table(tmp_path / "t.npz")
    assert (len(source.train.labels), len(source.test.labels), source.class_names) == (40, 4, ("n", "y"))
    with pytest.raises(ConfigError, match="test set of its own; leave test_fraction out"):
        load_table(tmp_path / "t.npz", test_fraction=0.3)
    with pytest.raises(ConfigError, match="leave label out"):
        load_table(tmp_path / "t.npz", label="y")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,y\n1,2,no\n1,x,yes\n", r"row 3, column 'b' of .* has 'x', which is no number"),
        ("a,b,y\n1,2,no\n,2,yes\n", r"row 3, column 'a' of .* is empty"),
        ("a,y\n1,no\n2,yes,3\n", "row 3 of .* has 3 cells, and the header 2"),
        ("1,2,3\n1,2,3\n", "begins with numbers; its first row should name the columns"),
        ("a,y\n", "has a header and no rows"),
        ("a\n1\n", "has 1 columns"),
        ("", "has 0 columns"),
        ('a,y\n1,"no\n', "can't be read as .csv"),
        ("a,y\nnan,no\n1,yes\n2,no\n3,yes\n", "has nan at row 0, column 'a'"),
    ],
)
def test_a_csv_that_is_none_is_refused_with_its_row_and_column(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        load_table(path)


def test_a_csv_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,y\n\xff\xfe,no\n")
    with pytest.raises(DataError, match="save it as UTF-8"):
        load_table(path)


def test_a_parquet_column_that_is_no_number_or_is_empty_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": ["x", "y"], "y": [0, 1]}), path)
    with pytest.raises(DataError, match=r"column 'a' of .* has type .*string; encode it"):
        load_table(path)
    pq.write_table(pa.table({"a": [1.0, None], "y": [0, 1]}), path)
    with pytest.raises(DataError, match=r"row 1, column 'a' of .* is empty"):
        load_table(path)


def test_a_damaged_parquet_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + bytes(64) + b"PAR1")
    with pytest.raises(DataError, match="can't be read as Parquet"):
        load_table(path)


def test_what_is_in_a_file_decides_whose_it_is(tmp_path):
    """Images and graphs of the same suffixes stay what they are."""
    images = DRAWS.random((20, 8, 8)).astype(np.float32)
    labels = np.array([0, 1] * 10)
    contents = {
        "images": {"images": images, "labels": labels},
        "short": {"x": images, "y": labels},
        "table": {"x": images.reshape(20, 64), "y": labels},
        "graph": {"x": images.reshape(20, 64), "y": labels, "edge_index": np.array([[0, 1], [1, 0]])},
    }
    found = {}
    for name, arrays in contents.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        found[name] = domain_of(CondenseRequest(source=str(tmp_path / f"{name}.npz"))).name
    assert found == {"images": "images", "short": "images", "table": "tables", "graph": "graphs"}
    png = {"image": [{"bytes": b"x", "path": "x.png"}], "label": [0]}
    pq.write_table(pa.table(png), tmp_path / "images.parquet")
    assert domain_of(CondenseRequest(source=str(tmp_path / "images.parquet"))).name == "images"


def test_a_name_or_a_path_that_leads_nowhere_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"wines.*wine"):
        load_table("wines")
    with pytest.raises(DataError, match="there is no"):
        load_table(tmp_path / "nothing.csv")
    with pytest.raises(ConfigError, match=r"lqm\.tabular\.from_arrays"):
        load_table(X)
    with pytest.raises(ConfigError, match="source already; leave label out"):
        load_table(load_table("wine"), label="y")


def test_validation_leaves_the_test_rows_out():
    source = load_table("wine", validation=True)
    whole = load_table("wine")
    assert source.record["validation"]
    held = {tuple(row) for row in source.test.features.tolist()}
    assert held <= {tuple(row) for row in whole.train.features.tolist()}
    assert not held & {tuple(row) for row in whole.test.features.tolist()}
    assert len(source.train.labels) + len(source.test.labels) == len(whole.train.labels)


def test_more_rows_than_a_class_has_are_refused():
    features, labels = load_wine(return_X_y=True)
    with pytest.raises(DataError, match=r"class '2' of 'table' has 38 training rows, fewer than per_class"):
        lqm.condense(from_arrays(features, labels), per_class=50, show_progress=False)
