"""Features that are too large for the memory: propagated in blocks into a file, with the same bits."""

import hashlib

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import lqm
from lqm.graphs import stored_propagation
from lqm.graphs.graph import Graph, undirected
from lqm.graphs.population import population, row_lengths
from lqm.graphs.propagation import propagate
from lqm.utils.cache import cache_folder
from lqm.utils.errors import ArtifactError
from lqm.utils.stored_arrays import LazyArray, StoredArray
from lqm.utils.tensors import TensorFile, save_tensors

LARGE = "synthetic:nodes=3000,classes=4,features=24,degree=9"


@pytest.fixture
def in_file(monkeypatch):
    """Even the smallest matrix is too large for the memory, or is not."""
    return lambda large: monkeypatch.setattr("lqm.utils.limits._RESIDENT_PART", 2**40 if large else 4)


def graph_of(pairs, nodes, width=5):
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    features = torch.rand(nodes, width, generator=torch.Generator().manual_seed(0))
    return Graph(features, undirected(ends[:, 0], ends[:, 1], nodes), torch.arange(nodes) % 2)


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=60), st.integers(1, 400))
def test_blocks_of_any_size_are_the_product(pairs, most):
    graph = graph_of(pairs, 20)
    scale = (1.0 / np.sqrt(np.diff(graph.adjacency.indptr) + 1.0)).astype(np.float32)
    before, stored_propagation._AT_ONCE = stored_propagation._AT_ONCE, most
    try:
        factor = torch.from_numpy(scale)[:, None]
        found = torch.cat([*stored_propagation._blocks(graph.features, graph.adjacency, factor)])
    finally:
        stored_propagation._AT_ONCE = before
    wanted = graph.adjacency.toarray() + np.eye(20)
    wanted = scale[:, None] * wanted * scale @ graph.features.numpy().astype(np.float64)
    assert found.numpy() == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("hops", [1, 2])
def test_what_is_in_a_file_has_the_bits_of_what_is_in_memory(in_file, monkeypatch, hops, tmp_path):
    graph = lqm.load_graph(LARGE, show_progress=False).graph
    wanted = propagate(graph.features, graph.adjacency, hops)
    in_file(True)
    monkeypatch.setattr(stored_propagation, "_AT_ONCE", 4 * 24 * 500)
    save_tensors(tmp_path / "file", {"x": graph.features})
    own = TensorFile(tmp_path / "file", "").stored("x")
    for features in (graph.features, own):
        found = propagate(features, graph.adjacency, hops)
        assert isinstance(found, StoredArray)
        assert found[:].equal(wanted)
        assert row_lengths(found).equal(row_lengths(wanted))
    entries = list((cache_folder() / "graphs").glob("*.safetensors"))
    assert len(entries) == hops + 1, "the graph, and each hop once"


def test_a_graph_in_a_file_is_the_same_source_and_gives_the_same_set(in_file):
    settings = {"steps": 2, "width": 16}
    found = []
    for large in (False, True, True):
        in_file(large)
        source = lqm.load_graph(LARGE, show_progress=False)
        options = {"budget": 12, "show_progress": False}
        made = [
            lqm.condense(source, settings=settings | {"real_batch": batch}, **options) for batch in (0, 50)
        ]
        made += [lqm.condense(source, method=rule, **options) for rule in ("herding", "random")]
        found.append(
            [source.fingerprint, *(hashlib.sha256(m.data.numpy().tobytes()).hexdigest() for m in made)]
        )
    assert isinstance(source.graph.features, LazyArray)
    assert found[0] == found[1] == found[2]


def test_the_classes_of_a_population_stay_in_the_file(in_file):
    in_file(True)
    graph = graph_of([(0, 1), (2, 3)], 20)
    real = population(graph, [torch.arange(10), torch.arange(10, 20)], ("a", "b"), hops=1)
    assert all(isinstance(part, LazyArray) for part in real.propagated)
    assert real.sizes == [10, 10]
    assert real.width == 5


def test_a_graph_in_a_file_is_evaluated(in_file):
    in_file(False)
    made = lqm.condense(LARGE, budget=12, settings={"steps": 1, "width": 8}, show_progress=False)
    found = []
    for large in (False, True):
        in_file(large)
        source = lqm.load_graph(LARGE, show_progress=False)
        assert isinstance(source.graph.features, LazyArray) == large
        result = lqm.evaluate(
            made, source, repeats=1, seed=int(large), baselines="random", show_progress=False
        )
        found.append(result.accuracy)
    assert all(0.2 < accuracy <= 1 for accuracy in found)


def test_without_a_cache_features_that_are_in_memory_stay_there_and_others_are_refused(
    in_file, monkeypatch, tmp_path, capsys
):
    in_file(True)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("LQM_CACHE", str(tmp_path / "file"))
    graph = graph_of([(0, 1)], 20)
    assert isinstance(propagate(graph.features, graph.adjacency), torch.Tensor)
    assert "propagated features can't be kept" in capsys.readouterr().err
    save_tensors(tmp_path / "x", {"x": graph.features})
    stored = TensorFile(tmp_path / "x", "").stored("x")
    with pytest.raises(ArtifactError, match=r"propagated features can't be kept .*LQM_CACHE"):
        propagate(stored, graph.adjacency)
