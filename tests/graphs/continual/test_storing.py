"""Memories of real nodes, against naive NumPy."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from lqm.graphs.continual.settings import RealMemorySettings, SubgraphSettings
from lqm.graphs.continual.storing import (
    random_embeddings,
    store_nearest_to_mean,
    store_random,
    store_subgraph,
)
from lqm.graphs.stream import make_stream
from tests.graphs.continual.making import small_graph

COUNTS = [3, 4]
OWN = RealMemorySettings(features="own")


def number_of(graph, features):
    """Which node of a graph has these features: all differ."""
    (found,) = (graph.features == features).all(dim=1).nonzero()[:, 0].tolist()
    return found


@pytest.fixture(params=[False, True], ids=["apart", "grown"])
def stream(request):
    return make_stream(small_graph(), inter_task_edges=request.param)


@pytest.mark.parametrize("store", [store_random, store_nearest_to_mean])
def test_what_is_stored_are_training_nodes_of_each_class_without_edges(stream, store):
    for task in stream.tasks:
        kept = store(stream, task, COUNTS, 0, OWN)
        nodes = [number_of(task.graph, row) for row in kept.features]
        assert len(set(nodes)) == sum(COUNTS)
        assert set(nodes) <= set(task.train.tolist())
        assert kept.labels.equal(task.graph.labels[nodes])
        assert kept.labels.bincount()[task.outputs.start :].tolist() == COUNTS
        assert kept.edges.shape == (2, 0)
        assert kept.class_names == stream.class_names


def test_another_seed_stores_other_random_nodes(stream):
    one, two = (store_random(stream, stream.tasks[0], COUNTS, seed, OWN) for seed in (0, 1))
    assert not one.features.equal(two.features)


def test_er_gnn_keeps_the_nodes_nearest_to_the_mean_of_their_class(stream):
    task = stream.tasks[1]
    embeddings = random_embeddings(task.graph, 5).numpy().astype(float)
    assert embeddings.shape == (task.graph.nodes, 256)
    expected = []
    for output, count in zip(task.outputs, COUNTS, strict=True):
        nodes = [n for n in task.train.tolist() if task.graph.labels[n] == output]
        mean = np.mean([embeddings[n] for n in nodes], axis=0)
        expected += sorted(nodes, key=lambda n: np.sqrt(((embeddings[n] - mean) ** 2).sum()))[:count]
    kept = store_nearest_to_mean(stream, task, COUNTS, 5, OWN)
    assert kept.features.equal(task.graph.features[expected])


@pytest.mark.parametrize("neighbours", [0, 2, 100])
def test_ssm_keeps_the_edges_between_what_it_stores(stream, neighbours):
    for task in stream.tasks:
        kept = store_subgraph(
            stream, task, COUNTS, 0, SubgraphSettings(features="own", neighbours=neighbours)
        )
        nodes = [number_of(task.graph, row) for row in kept.features]
        assert len(set(nodes)) == len(nodes)
        expected = task.graph.adjacency.toarray()[np.ix_(nodes, nodes)]
        found = np.zeros_like(expected)
        found[tuple(kept.edges.numpy())] = 1
        np.testing.assert_array_equal(found, expected)
        assert kept.edges.shape[1] == expected.sum()


def test_ssm_stores_neighbours_beside_without_their_labels(stream):
    task = stream.tasks[1]
    alone = store_subgraph(stream, task, COUNTS, 0, SubgraphSettings(features="own"))
    all_around = store_subgraph(stream, task, COUNTS, 0, SubgraphSettings(features="own", neighbours=100))
    centres = [number_of(task.graph, row) for row in alone.features]
    around = {n for c in centres for n in task.graph.adjacency[[c]].nonzero()[1].tolist()} - set(centres)
    assert around
    nodes = [number_of(task.graph, row) for row in all_around.features]
    assert nodes[: sum(COUNTS)] == centres
    assert set(nodes[sum(COUNTS) :]) == around
    assert all_around.labels[: sum(COUNTS)].equal(alone.labels)
    assert (all_around.labels[sum(COUNTS) :] == -1).all()
    one = store_subgraph(stream, task, COUNTS, 0, SubgraphSettings(features="own", neighbours=1))
    assert sum(COUNTS) < len(one.labels) <= 2 * sum(COUNTS)


def test_ssm_and_random_keep_the_same_nodes():
    stream = make_stream(small_graph())
    random = store_random(stream, stream.tasks[0], COUNTS, 3, OWN)
    ssm = store_subgraph(stream, stream.tasks[0], COUNTS, 3, SubgraphSettings(features="own"))
    assert torch.equal(random.features, ssm.features)


@pytest.mark.parametrize("store", [store_random, store_nearest_to_mean, store_subgraph])
def test_stored_nodes_have_what_their_neighbours_told_them(stream, store):
    kind = SubgraphSettings if store is store_subgraph else RealMemorySettings
    for task in stream.tasks:
        own, kept = (store(stream, task, COUNTS, 0, kind(**f)) for f in ({"features": "own"}, {}))
        nodes = [number_of(task.graph, row) for row in own.features]
        loops = task.graph.adjacency.toarray() + np.eye(task.graph.nodes)
        scale = loops.sum(axis=0) ** -0.5
        expected = (scale[:, None] * loops * scale) @ task.graph.features.numpy()
        np.testing.assert_allclose(kept.features.numpy(), expected[nodes], rtol=1e-5)
        assert kept.labels.equal(own.labels)


@pytest.mark.parametrize("store", [store_random, store_nearest_to_mean])
def test_a_class_with_too_few_nodes_gives_some_twice(store):
    source = small_graph()
    first = source.by_class[0]
    source.graph.features[first[1:]] = 0
    isolated = replace(source, graph=replace(source.graph, adjacency=0 * source.graph.adjacency))
    isolated.graph.adjacency.eliminate_zeros()
    stream = make_stream(isolated)
    kept = store(stream, stream.tasks[0], COUNTS, 0, RealMemorySettings())
    assert kept.labels.bincount().tolist() == COUNTS


@pytest.mark.parametrize("store", [store_random, store_nearest_to_mean, store_subgraph])
def test_no_node_without_features_is_stored(store):
    source = small_graph()
    source.graph.features[::2] = 0
    stream = make_stream(source)
    for task in stream.tasks:
        kept = store(stream, task, COUNTS, 0, SubgraphSettings(features="own"))
        assert (kept.features != 0).any(dim=1).all()
