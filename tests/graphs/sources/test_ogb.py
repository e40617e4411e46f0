"""Folders of gzipped CSV as the Open Graph Benchmark has them."""

import gzip
import re

import numpy as np
import pytest
from pyarrow import csv

from lqm.graphs.sources import is_graph, load_graph
from lqm.utils.errors import ConfigError, DataError


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(f"{row}\n" for row in rows)


def lines(array):
    return [",".join(str(value) for value in row) for row in np.atleast_2d(array)]


@pytest.fixture
def folder(tmp_path, random):
    root = tmp_path / "ogbn_tiny"
    # Whole numbers first: the kind of a column is not to be guessed from its beginning.
    features = np.concatenate([np.ones((4, 3)), random.random((26, 3))])
    edges = np.array([(node, (node + step) % 30) for node in range(30) for step in (1, 4)])
    labels = [str(node % 3) for node in range(30)]
    write(root / "raw/edge.csv.gz", lines(edges))
    write(root / "raw/node-feat.csv.gz", lines(features))
    write(root / "raw/node-label.csv.gz", labels)
    write(root / "raw/num-node-list.csv.gz", ["30"])
    write(root / "raw/num-edge-list.csv.gz", ["60"])
    for part, start in (("train", 0), ("valid", 15), ("test", 22)):
        end = {"train": 15, "valid": 22, "test": 30}[part]
        write(root / f"split/time/{part}.csv.gz", range(start, end))
    write(root / "mapping/labelidx2word.csv.gz", ["label idx,word", "0,ant", "1,bee", "2,"])
    return root


def test_a_folder_becomes_a_graph(folder):
    assert is_graph(folder)
    source = load_graph(folder, show_progress=False)
    assert (source.name, source.graph.nodes, source.graph.edges) == ("ogbn_tiny", 30, 60)
    expected = np.zeros((30, 30))
    for node in range(30):
        for step in (1, 4):
            expected[node, (node + step) % 30] = expected[(node + step) % 30, node] = 1
    np.testing.assert_array_equal(source.graph.adjacency.toarray(), expected)
    written = np.loadtxt(folder / "raw/node-feat.csv.gz", delimiter=",")
    np.testing.assert_allclose(source.graph.features.numpy(), written, rtol=1e-6)
    assert source.class_names == ("ant", "bee", "2")
    assert source.split == "published"
    assert [len(part) for part in (source.train, source.validation, source.test)] == [15, 7, 8]
    (note,) = source.notes
    assert "60 directed edges" in note
    assert source.origin == {"source": str(folder)}


@pytest.mark.parametrize("none", ["", "nan"])
def test_a_label_may_be_missing(folder, none):
    write(folder / "raw/node-label.csv.gz", [none if node == 7 else f"{node % 3}.0" for node in range(30)])
    source = load_graph(folder)
    assert source.graph.labels[7] == -1
    assert 7 not in source.train.tolist()
    assert source.graph.labels[8] == 2


def test_it_is_parsed_once(folder, monkeypatch):
    first = load_graph(folder)
    monkeypatch.setattr(csv, "open_csv", lambda *_: pytest.fail("parsed again"))
    again = load_graph(folder)
    assert again.fingerprint == first.fingerprint
    assert again.notes == first.notes
    forced = load_graph(folder, split="random")
    assert forced.split.startswith("random")


def test_a_change_of_a_file_is_seen(folder):
    first = load_graph(folder)
    write(folder / "raw/node-label.csv.gz", [str(node % 2) for node in range(30)])
    assert load_graph(folder).fingerprint != first.fingerprint


def test_a_graph_without_features_or_split(folder):
    (folder / "raw/node-feat.csv.gz").unlink()
    for part in (folder / "split/time").iterdir():
        part.unlink()
    (folder / "split/time").rmdir()
    with pytest.raises(DataError, match="features"):
        load_graph(folder)
    for _ in range(2):  # made, and from the cache
        source = load_graph(folder, features="degree")
        assert (source.graph.width, source.made_features) == (32, "degree")
    assert load_graph(folder, features="one-hot").graph.width == 30
    assert load_graph(folder, features="one-hot").split.startswith("random")


def test_of_several_splits_the_first_is_used(folder):
    for part in ("train", "valid", "test"):
        write(folder / f"split/zebra/{part}.csv.gz", ["0"])
    assert re.search("2 splits.*'time'", load_graph(folder).notes[0])


@pytest.mark.parametrize(
    ("file", "rows", "sentence"),
    [
        ("raw/edge.csv.gz", ["0,1,2"], r"edge\.csv\.gz .*\b3 columns.*\b2\b"),
        ("raw/edge.csv.gz", ["0,x"], r"edge\.csv\.gz .*CSV"),
        ("raw/edge.csv.gz", ["0,30"], r"\b30\b"),
        ("raw/edge.csv.gz", [], r"edge\.csv\.gz .*CSV"),
        ("raw/node-label.csv.gz", ["0", "1"], "2 labels.*30 nodes"),
        ("raw/node-label.csv.gz", ["0,1"] * 30, r"labels.*\[30, 2\]"),
        ("raw/node-feat.csv.gz", ["1,2"] * 31, "31 rows.*30 nodes"),
        ("raw/node-feat.csv.gz", ["1,2"] * 29, "29 rows"),
        ("raw/node-feat.csv.gz", ["1,"] * 30, "NaN or infinity"),
        ("raw/num-node-list.csv.gz", ["10", "20"], "2 graphs"),
        ("split/time/train.csv.gz", ["0", "99", "1", "2"], "train nodes"),
        ("mapping/labelidx2word.csv.gz", ["a,b", "x,y"], "labelidx2word.*names of classes"),
    ],
)
def test_what_cant_be_used_is_refused(folder, file, rows, sentence):
    write(folder / file, rows)
    with pytest.raises(DataError, match=sentence):
        load_graph(folder)


@pytest.mark.parametrize("file", ["raw/node-label.csv.gz", "split/time/valid.csv.gz"])
def test_a_missing_file_is_named(folder, file):
    (folder / file).unlink()
    with pytest.raises(DataError, match=file):
        load_graph(folder)


def test_a_damaged_archive_is_refused(folder):
    path = folder / "raw/edge.csv.gz"
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(DataError, match=r"edge\.csv\.gz .*CSV"):
        load_graph(folder)


def test_features_of_its_own_are_never_replaced(folder):
    with pytest.raises(ConfigError, match=r"degree.*--features"):
        load_graph(folder, features="degree")
