"""Graphs in which some nodes have no features: every set is alive, and the user is told."""

import numpy as np
import pytest
import torch

import lqm

SETTINGS = {"steps": 3, "width": 16}


@pytest.fixture
def graph(tmp_path):
    """Four classes, every second node without features."""
    draws = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 30)
    features = (draws.random((120, 40)) < 0.2).astype(np.float32)
    features[np.arange(120), labels] = 1
    features[::2] = 0
    path = tmp_path / "holes.npz"
    np.savez(path, edge_index=draws.integers(0, 120, (2, 360)), x=features, y=labels)
    return path


@pytest.mark.parametrize("method", ["cat", "puma", "random", "herding", "k-centre", "k-means"])
def test_no_node_of_a_set_is_dead(graph, method, capsys):
    settings = {**SETTINGS, "updates": 2} if method == "puma" else SETTINGS if method == "cat" else None
    found = lqm.condense(graph, method=method, budget=20, settings=settings)
    assert (found.features != 0).any(dim=1).all()
    assert "no feature but 0" in capsys.readouterr().err


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", ["cat", "puma", "random", "er-gnn", "ssm"])
def test_no_node_of_a_memory_is_dead(graph, method, seed):
    settings = {"epochs": 2} | (SETTINGS if method in ("cat", "puma") else {})
    found = lqm.continual(
        graph, method=method, budget=6, seed=seed, settings=settings, show_progress=False, repeats=1
    )
    for memory in found.repeats[0].memories:
        assert (memory.features != 0).any(dim=1).all()


def test_lengths_are_those_of_the_real_nodes_after_propagation(graph):
    source = lqm.load_graph(graph)
    found = lqm.condense(source, budget=20, settings=SETTINGS | {"learning_rate": 1.0}, show_progress=False)
    adjacency = source.graph.adjacency.toarray() + np.eye(120)
    scale = adjacency.sum(axis=0) ** -0.5
    propagated = torch.from_numpy((scale[:, None] * adjacency * scale) @ source.graph.features.numpy())
    for label, nodes in enumerate(source.by_class):
        expected = propagated[nodes].norm(dim=1).mean()
        own = found.features[found.labels == label].norm(dim=1)
        torch.testing.assert_close(own, expected.float().expand(len(own)), rtol=1e-4, atol=0)


FREE = SETTINGS | {"learning_rate": 1.0, "lengths": "free"}


def test_lengths_that_drift_are_named_at_the_end_of_a_condensation(graph, capsys):
    lqm.condense(graph, budget=20, settings=FREE, show_progress=False)
    assert "times as long" in capsys.readouterr().err
    lqm.condense(graph, budget=20, settings=FREE | {"lengths": "real"}, show_progress=False)
    assert capsys.readouterr().err == ""


def test_lengths_that_drift_are_named_in_a_stream(graph, capsys):
    learning = {"epochs": 2}
    lqm.continual(graph, budget=6, settings=FREE | learning, show_progress=False, repeats=1)
    assert "times as long" in capsys.readouterr().err
    lqm.continual(
        graph, budget=6, settings=FREE | learning | {"lengths": "real"}, show_progress=False, repeats=1
    )
    assert capsys.readouterr().err == ""
