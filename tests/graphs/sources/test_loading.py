"""From what a user gives to the reader of it."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors

from lqm.graphs.sources import is_graph, load_graph
from lqm.utils.errors import ConfigError, DataError


def test_the_digits_are_tied_to_their_nearest():
    source = load_graph("digits-knn")
    bunch = load_digits()
    assert source.graph.features.equal(torch.tensor(bunch.data / 16, dtype=torch.float32))
    assert source.graph.labels.tolist() == bunch.target.tolist()
    assert source.class_names == tuple("0123456789")
    _, nearest = NearestNeighbors(n_neighbors=11).fit(bunch.data).kneighbors()
    rows = source.graph.adjacency
    for node in range(0, 1797, 100):
        # The last one may be as far as another.
        assert set(nearest[node, :9]) <= set(rows.indices[rows.indptr[node] : rows.indptr[node + 1]])
    assert source.origin == {"source": "digits-knn"}
    assert source.notes == ()
    assert load_graph(source) is source


def test_the_origin_finds_a_source_again(write, monkeypatch, tmp_path):
    path = write(x=None)
    monkeypatch.chdir(tmp_path)
    source = load_graph("ring.npz", features="degree", split="random")
    assert source.origin == {"source": str(path), "features": "degree", "split": "random"}
    assert load_graph(**source.origin).fingerprint == source.fingerprint


def test_a_message_names_a_file_as_it_was_given(write, monkeypatch, tmp_path):
    write().write_bytes(b"no archive")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=r"^ring\.npz "):
        load_graph("ring.npz")


def test_a_word_is_looked_for_in_the_folder_of_data(write, monkeypatch, tmp_path):
    path = write()
    (tmp_path / "data").mkdir()
    (tmp_path / "data/graphs").mkdir()
    path = path.rename(tmp_path / "data/graphs/ring.npz")
    expected = load_graph(path)
    assert expected.origin == {"source": str(path)}
    found = load_graph("ring", data_dir=tmp_path / "data")
    assert found.origin == {"source": "ring", "data_dir": str(tmp_path / "data")}
    assert found.fingerprint == expected.fingerprint
    assert is_graph("ring", tmp_path / "data")
    assert not is_graph("ring")
    monkeypatch.setenv("LQM_DATA", str(tmp_path / "data"))
    assert is_graph("ring")
    assert load_graph("ring").name == "ring"
    assert load_graph("ring").origin == {"source": "ring"}
    assert not is_graph("graphs")


def test_an_origin_is_found_again_where_its_folder_has_moved(write, monkeypatch, tmp_path):
    write()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "ring.npz").rename("data/ring.npz")
    given = load_graph("ring", data_dir="data", split="random")
    monkeypatch.setenv("LQM_DATA", "data")
    named = load_graph("ring", split="random")
    monkeypatch.delenv("LQM_DATA")
    (tmp_path / "data").rename(tmp_path / "moved")
    for source in (given, named):
        again = load_graph(**{**source.origin, "data_dir": str(tmp_path / "moved")})
        assert again.fingerprint == source.fingerprint
        assert again.origin["data_dir"] == str(tmp_path / "moved")


def test_a_folder_of_data_that_is_given_goes_before_the_working_directory(write, monkeypatch, tmp_path):
    write()
    (tmp_path / "data").mkdir()
    (tmp_path / "ring.npz").rename(tmp_path / "data/ring.npz")
    (tmp_path / "ring").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_graph("ring", "data")
    assert load_graph("ring", data_dir="data").graph.nodes == 20
    monkeypatch.setenv("LQM_DATA", "data")
    assert not is_graph("ring")


def test_what_is_a_graph_is_told_by_names(write, tmp_path):
    assert is_graph(load_graph("digits-knn"))
    for word in ("digits-knn", "synthetic", "synthetic:nodes=5", "synthetic:nonsense", write(), str(write())):
        assert is_graph(word)
    np.savez(tmp_path / "images.npz", x=np.zeros(3), y=np.zeros(3))
    (tmp_path / "cat").mkdir()
    others = ["digits", "synthetics", "", "x" * 5000, "a\0b", tmp_path, tmp_path / "images.npz"]
    for other in [*others, tmp_path / "missing", 3, None, torch.zeros(3)]:
        assert not is_graph(other)


def test_a_damaged_file_is_neither_a_graph_nor_images(write):
    path = write()
    for content in (b"no archive", b"", path.read_bytes()[:-30]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"ring\.npz .*\.npz \(.+\); .*again"):
            is_graph(path)


def test_pyg_is_not_imported_to_tell():
    code = (
        "import sys; from lqm.graphs.sources import is_graph, load_graph; load_graph('digits-knn'); "
        "assert not is_graph(object()); assert 'torch_geometric' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("digits-kn", r"'digits-kn'.*'digits-knn'.*path.*\.npz"),
        ("nowhere/to/be/found", "digits-knn, synthetic.*path"),
        ("", "''"),
        (5, r"\bint\b.*name.*path"),
    ],
)
def test_an_unknown_source_lists_the_known_ones(source, sentence):
    with pytest.raises(ConfigError, match=sentence):
        load_graph(source)


def test_a_path_that_leads_to_no_graph_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"/missing\b.*\.npz"):
        load_graph(tmp_path / "missing")
    (tmp_path / "notes.txt").write_text("")
    for path in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(DataError, match=rf"{path} .*graph.*\.npz"):
            load_graph(path)


def test_options_that_dont_apply_are_refused(write, tmp_path):
    with pytest.raises(ConfigError, match=r"'digits-knn'.*split"):
        load_graph(load_graph("digits-knn"), split="random")
    with pytest.raises(ConfigError, match=r"'digits-knn'.*--data-dir"):
        load_graph("digits-knn", data_dir=tmp_path)
    with pytest.raises(ConfigError, match=r"ring\.npz.*--data-dir"):
        load_graph(write(), data_dir=tmp_path)
    for name in ("digits-knn", "synthetic"):
        with pytest.raises(ConfigError, match=rf"'{name}'.*degree"):
            load_graph(name, features="degree")
