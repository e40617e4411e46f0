"""The generator, and the cache that keeps what it made."""

import os

import numpy as np
import pytest
import torch

from lqm.graphs.sources import load_graph, synthetic
from lqm.graphs.sources.synthetic import Synthetic, read_options
from lqm.utils.cache import cache_folder
from lqm.utils.errors import ConfigError

SMALL = "synthetic:nodes=400,classes=4,features=6,degree=8"


def test_a_graph_has_what_was_asked_for():
    source = load_graph("synthetic:nodes=3000,classes=5,features=7,degree=12,skew=0.5")
    graph = source.graph
    assert (source.name, graph.nodes, graph.width, source.class_names) == (
        "synthetic",
        3000,
        7,
        tuple("01234"),
    )
    assert 0.99 * 12 <= graph.adjacency.nnz / 3000 <= 12
    assert source.notes == ()
    assert (graph.adjacency != graph.adjacency.T).nnz == 0
    assert graph.adjacency.diagonal().sum() == 0
    assert graph.adjacency.has_canonical_format
    sizes = graph.labels.bincount().tolist()
    np.testing.assert_allclose(np.divide(sizes, sizes[0]), np.arange(1, 6) ** -0.5, rtol=0.02)
    degrees = np.diff(graph.adjacency.indptr)
    assert degrees.max() > 8 * degrees.mean()


def test_homophily_is_the_share_of_edges_within_a_class():
    for homophily in (0.0, 0.7, 1.0):
        words = f"synthetic:nodes=4000,classes=4,features=2,skew=0,homophily={homophily}"
        graph = load_graph(words).graph
        first, second = graph.adjacency.nonzero()
        share = (graph.labels[first] == graph.labels[second]).double().mean()
        assert share == pytest.approx(homophily + (1 - homophily) / 4, abs=0.02)


def test_noise_is_the_spread_around_the_centre_of_a_class():
    graph = load_graph("synthetic:nodes=4000,classes=2,features=5,noise=0.25").graph
    for label in range(2):
        members = graph.features[graph.labels == label]
        torch.testing.assert_close(members.std(dim=0), torch.full((5,), 0.25), rtol=0.1, atol=0)


def test_the_same_words_draw_the_same_graph(monkeypatch, tmp_path):
    first = load_graph(SMALL)
    monkeypatch.setenv("LQM_CACHE", str(tmp_path))
    assert load_graph(SMALL).fingerprint == first.fingerprint
    assert load_graph(f"{SMALL},seed=1").fingerprint != first.fingerprint


def test_edges_drawn_piece_by_piece_reach_the_same_number(monkeypatch):
    monkeypatch.setattr(synthetic, "_EDGES_AT_ONCE", 100)
    monkeypatch.setattr(synthetic, "_NODES_AT_ONCE", 30)
    graph = load_graph(SMALL).graph
    assert 0.99 * 1600 <= graph.edges <= 1600
    assert graph.features.isfinite().all()


@pytest.mark.parametrize("options", ["degree=0.01", "degree=1", "degree=60", "degree=200,homophily=0"])
def test_the_degree_is_met_to_within_a_hundredth(options):
    source = load_graph(f"synthetic:nodes=400,features=2,{options}")
    wanted = 200 * read_options(f"synthetic:{options}").degree
    assert 0.99 * wanted <= source.graph.edges <= wanted
    assert (source.graph.adjacency.data == 1).all()
    assert source.graph.adjacency.diagonal().sum() == 0


def test_where_pairs_run_out_it_is_said():
    source = load_graph("synthetic:nodes=60,classes=20,features=2,homophily=1,skew=0,degree=6")
    assert source.graph.edges < 0.5 * 180
    (note,) = source.notes
    assert note == (
        f"{source.graph.edges} of 180 edges were drawn: hardly a pair of nodes is left that the options allow"
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("synthetic:node=5", "no option of synthetic 'node'; did you mean 'nodes'"),
        ("synthetic:", "'' is no option of .*; write option=value, such as synthetic:nodes=10000"),
        ("synthetic:nodes", "'nodes' is no option .*; write option=value"),
        ("synthetic:nodes=2e3", "nodes of synthetic is '2e3'; .*integer"),
        ("synthetic:noise=x", "noise of synthetic is 'x'; .*number"),
        ("synthetic:nodes=100,nodes=100", "given 'nodes' twice"),
        ("synthetic:nodes=3", "nodes of synthetic is '3'; .* 10$"),
        ("synthetic:nodes=2147483648", "nodes of synthetic is '2147483648'; .* 2147483647$"),
        ("synthetic:classes=1", "classes of synthetic is '1'; .* 2$"),
        ("synthetic:nodes=20,classes=21", "classes of synthetic is 21; .* 20$"),
        ("synthetic:nodes=20,degree=19.5", "degree of synthetic is 19.5; .* 19$"),
        ("synthetic:homophily=1.5", "homophily of synthetic is '1.5'; .* 1$"),
        ("synthetic:noise=nan", "noise of synthetic is 'nan'"),
        ("synthetic:skew=inf", "skew of synthetic is 'inf'"),
        ("synthetic:degree=inf", "degree of synthetic is inf"),
        ("synthetic:degree=nan", "degree of synthetic is '?nan"),
        ("synthetic:degree=0", "degree of synthetic is '0'"),
        ("synthetic:seed=-1", "seed of synthetic is '-1'; .* 0$"),
    ],
)
def test_options_that_cant_be_used_are_refused(words, sentence):
    with pytest.raises(ConfigError, match=sentence):
        load_graph(words)


def test_options_may_be_left_out():
    assert read_options("synthetic") == Synthetic()
    assert read_options("synthetic:nodes=200, noise=2").noise == 2.0


def kept():
    return list((cache_folder() / "graphs").iterdir())


def test_what_was_drawn_is_kept_and_found_again(monkeypatch):
    first = load_graph(SMALL)
    assert len(kept()) == 1
    monkeypatch.setattr(synthetic, "_draw", None)
    again = load_graph(SMALL)
    assert again.fingerprint == first.fingerprint
    assert again.graph.adjacency.dtype == np.float32
    (again.graph.adjacency @ again.graph.features.numpy()).sum()


def test_a_damaged_file_is_made_again(capsys):
    first = load_graph(SMALL)
    (path,) = kept()
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)
    assert load_graph(SMALL).fingerprint == first.fingerprint
    assert "was damaged, and is made again" in capsys.readouterr().err
    assert len(kept()) == 1
    assert load_graph(SMALL).fingerprint == first.fingerprint


def test_a_cache_that_cant_be_written_is_done_without(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    assert load_graph(SMALL).graph.nodes == 400
    assert "the graphs are not kept" in capsys.readouterr().err


def test_no_cache_at_all_is_done_without(monkeypatch, capsys):
    for name in ("LQM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("lqm.utils.cache.Path.home", lambda: (_ for _ in ()).throw(RuntimeError))
    assert load_graph(SMALL).graph.nodes == 400
    assert "the graphs are not kept" in capsys.readouterr().err


def test_a_failed_write_leaves_nothing(monkeypatch, capsys):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert load_graph(SMALL).graph.nodes == 400
    assert "No space left" in capsys.readouterr().err
    assert kept() == []
