"""The generator, and the cache that keeps what it made."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from lqm.graphs.sources import load_graph
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


def test_what_is_too_large_to_be_drawn_at_once_reaches_the_same_number():
    graph = load_graph("synthetic:nodes=101000,features=2,degree=82", show_progress=False).graph
    assert 0.99 * 4_141_000 <= graph.edges <= 4_141_000
    assert graph.features.isfinite().all()
    assert (graph.features[100_000:].std(dim=0) > 0.1).all(), "the last ones are drawn too"


@pytest.mark.parametrize("options", ["degree=0.01", "degree=1", "degree=60", "degree=200,homophily=0"])
def test_the_degree_is_met_to_within_a_hundredth(options):
    source = load_graph(f"synthetic:nodes=400,features=2,{options}")
    wanted = 200 * read_options(f"synthetic:{options}").degree
    assert 0.99 * wanted <= source.graph.edges <= wanted
    assert (source.graph.adjacency.data == 1).all()
    assert source.graph.adjacency.diagonal().sum() == 0


def test_where_pairs_run_out_it_is_noted():
    source = load_graph("synthetic:nodes=60,classes=20,features=2,homophily=1,skew=0,degree=6")
    assert source.graph.edges < 0.5 * 180
    (note,) = source.notes
    assert f"{source.graph.edges} of 180 edges" in note


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("synthetic:node=5", "'node'.*'nodes'"),
        ("synthetic:", "''.*option=value"),
        ("synthetic:nodes", "'nodes'.*option=value"),
        ("synthetic:nodes=2e3", "nodes .*'2e3'.*whole number"),
        ("synthetic:noise=x", "noise .*'x'.*number"),
        ("synthetic:nodes=100,nodes=100", "'nodes' twice"),
        ("synthetic:nodes=3", r"nodes .*\b3\b.*from 10"),
        ("synthetic:classes=1", r"classes .*\b1\b.*from 2 to 10,?000"),
        ("synthetic:homophily=1.5", r"homophily .*\b1\.5\b.*from 0 to 1"),
        ("synthetic:noise=nan", r"noise .*\bnan\b"),
        ("synthetic:degree=0", r"degree .*\b0\b"),
        ("synthetic:seed=-1", r"seed .*-1\b"),
    ],
)
def test_options_that_cant_be_used_are_refused(words, sentence):
    with pytest.raises(ConfigError, match=sentence):
        load_graph(words)


def test_options_may_be_left_out():
    assert read_options("synthetic") == Synthetic()
    assert read_options("synthetic:nodes=200, noise=2").noise == 2.0


def kept():
    return [path for path in cache_folder().rglob("*") if path.is_file()]


def test_what_was_drawn_is_kept_and_found_again(monkeypatch):
    first = load_graph(SMALL)
    assert len(kept()) == 1
    monkeypatch.setattr(np.random, "default_rng", lambda *_: pytest.fail("drawn again"))
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
    assert "damaged" in capsys.readouterr().err
    assert len(kept()) == 1
    assert load_graph(SMALL).fingerprint == first.fingerprint


def test_a_cache_that_cant_be_written_is_done_without(monkeypatch, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    assert load_graph(SMALL).graph.nodes == 400
    assert str(tmp_path / "file") in capsys.readouterr().err


def test_no_cache_at_all_is_done_without(monkeypatch, capsys):
    for name in ("LQM_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError))
    assert load_graph(SMALL).graph.nodes == 400
    assert "LQM_CACHE" in capsys.readouterr().err


def test_a_failed_write_leaves_nothing(monkeypatch, capsys):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert load_graph(SMALL).graph.nodes == 400
    assert "No space left" in capsys.readouterr().err
    assert kept() == []
