"""Streams of tasks, against naive subgraphs and PyG's split."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.transforms import RandomNodeSplit

from lqm.graphs.graph import Graph, dense, undirected
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.features import degree_features
from lqm.graphs.stream import make_stream
from lqm.utils.errors import ConfigError, DataError
from tests.graphs.continual.making import as_source, degree_source, small_graph


def nodes_of(source, task):
    """The nodes of a task in the source, ascending: naive."""
    return [n for n, label in enumerate(source.graph.labels.tolist()) if label in task.classes]


def test_tasks_have_the_classes_in_order_and_the_rest_at_the_end():
    source = small_graph(classes=5)
    stream = make_stream(source)
    assert [task.classes for task in stream.tasks] == [(0, 1), (2, 3), (4,)]
    assert [task.outputs for task in stream.tasks] == [range(2), range(2, 4), range(4, 5)]
    assert [task.number for task in stream.tasks] == [0, 1, 2]
    assert stream.class_names == source.class_names
    assert stream.names(stream.tasks[1]) == ("class 2", "class 3")


def test_classes_that_fill_no_task_can_be_dropped():
    stream = make_stream(small_graph(classes=5), remainder="drop")
    assert [task.classes for task in stream.tasks] == [(0, 1), (2, 3)]
    assert stream.class_names == ("class 0", "class 1", "class 2", "class 3")


def test_a_shuffled_order_follows_from_its_seed_and_outputs_follow_the_order():
    source = small_graph()
    one, same, other = (make_stream(source, order="shuffled", order_seed=s) for s in (1, 1, 2))
    order = [label for task in one.tasks for label in task.classes]
    assert sorted(order) == list(range(6))
    assert order != list(range(6))
    assert [task.classes for task in same.tasks] == [task.classes for task in one.tasks]
    assert [task.classes for task in other.tasks] != [task.classes for task in one.tasks]
    assert one.class_names == tuple(f"class {label}" for label in order)
    for task in one.tasks:
        nodes = nodes_of(source, task)
        assert [order[output] for output in task.graph.labels] == source.graph.labels[nodes].tolist()


def test_without_inter_task_edges_a_task_is_the_subgraph_of_its_nodes():
    source = small_graph()
    whole = source.graph.adjacency.toarray()
    for task in make_stream(source).tasks:
        nodes = nodes_of(source, task)
        np.testing.assert_array_equal(task.graph.adjacency.toarray(), whole[np.ix_(nodes, nodes)])
        assert task.graph.features.equal(source.graph.features[nodes])
        assert task.graph.labels.equal(source.graph.labels[nodes])
        assert task.nodes == len(nodes)


def test_with_inter_task_edges_a_task_is_the_graph_grown_so_far():
    source = small_graph()
    whole = source.graph.adjacency.toarray()
    apart, grown = make_stream(source).tasks, make_stream(source, inter_task_edges=True).tasks
    seen = []
    for task, alone in zip(grown, apart, strict=True):
        start = len(seen)
        seen += nodes_of(source, task)
        np.testing.assert_array_equal(task.graph.adjacency.toarray(), whole[np.ix_(seen, seen)])
        assert task.graph.labels.equal(source.graph.labels[seen])
        for part in ("train", "validation", "test"):
            assert getattr(task, part).equal(getattr(alone, part) + start)
        assert task.nodes == alone.nodes


@pytest.mark.parametrize("each", [3, 8, 14, 21])
def test_the_split_has_the_sizes_of_pyg_and_own_nodes_only(each):
    for task in make_stream(small_graph(each=each)).tasks:
        split = RandomNodeSplit("train_rest", num_val=0.2, num_test=0.2)(
            Data(y=task.graph.labels, num_nodes=task.nodes)
        )
        parts = [task.train, task.validation, task.test]
        assert [len(part) for part in parts] == [
            int(mask.sum()) for mask in (split.train_mask, split.val_mask, split.test_mask)
        ]
        assert torch.cat(parts).sort().values.equal(torch.arange(task.nodes))


def test_the_training_nodes_by_class_are_the_training_nodes():
    for task in make_stream(small_graph(), inter_task_edges=True).tasks:
        assert torch.cat(task.by_class).sort().values.equal(task.train)
        for output, nodes in zip(task.outputs, task.by_class, strict=True):
            assert (task.graph.labels[nodes] == output).all()


def test_the_split_of_a_task_is_the_same_whatever_other_tasks_there_are():
    source = small_graph()
    fewer = torch.where(source.graph.labels < 2, source.graph.labels, -1)
    alone = as_source(Graph(source.graph.features, source.graph.adjacency, fewer), ["class 0", "class 1"])
    task, same = make_stream(source).tasks[0], make_stream(alone).tasks[0]
    for part in ("train", "validation", "test"):
        assert getattr(task, part).equal(getattr(same, part))


def test_another_split_seed_is_another_split():
    source = small_graph()
    one, two = make_stream(source).tasks[0], make_stream(source, split_seed=1).tasks[0]
    assert not one.test.equal(two.test)


def test_every_class_has_a_training_node_whatever_the_draw():
    labels = torch.tensor([0] * 30 + [1])
    graph = Graph(torch.rand(31, 3), undirected(np.array([0]), np.array([1]), 31), labels)
    source = as_source(graph, ["many", "one"])
    for seed in range(30):
        task = make_stream(source, split_seed=seed).tasks[0]
        assert [len(nodes) for nodes in task.by_class][1] == 1
        assert torch.cat([task.train, task.validation, task.test]).sort().values.equal(torch.arange(31))


def test_nodes_without_a_label_are_in_no_task():
    source = small_graph(classes=4)
    labels = source.graph.labels.clone()
    labels[:5] = -1
    fewer = as_source(Graph(source.graph.features, source.graph.adjacency, labels), source.class_names)
    tasks = make_stream(fewer, inter_task_edges=True).tasks
    assert sum(task.nodes for task in tasks) == tasks[-1].graph.nodes == len(labels) - 5


def test_nodes_without_a_label_are_reported_as_left_out_and_not_as_propagated():
    y = torch.arange(60) % 3
    y[:9] = -1
    source = load_graph(Data(x=torch.rand(60, 4), edge_index=torch.randint(0, 60, (2, 90)), y=y))
    (before,) = (note for note in source.notes if "label" in note)
    notes = make_stream(source).notes
    (after,) = (note for note in notes if "label" in note)
    assert before.startswith("9 nodes")
    assert after.startswith("9 nodes")
    assert "no task" in after
    assert "no task" not in before
    assert set(source.notes) - set(notes) == {note for note in source.notes if "label" in note}
    assert make_stream(small_graph()).notes == ()


def test_notes_about_the_split_of_a_source_are_not_those_of_a_stream():
    nodes = torch.arange(60)
    masks = {
        f"{part}_mask": (nodes % 3 == n)[:, None].repeat(1, 2)
        for n, part in enumerate(("train", "val", "test"))
    }
    edges = torch.randint(0, 60, (2, 90), generator=torch.Generator().manual_seed(0))
    labels = torch.where(nodes < 9, -1, nodes // 3 % 2)
    source = load_graph(Data(x=torch.rand(60, 4), edge_index=edges, y=labels, **masks))
    assert len([note for note in source.notes if "published split" in note]) == 2
    kept = make_stream(source).notes
    assert kept
    assert not any("published split" in note for note in kept)


def test_a_class_that_gets_a_training_node_is_noted():
    labels = torch.tensor([0] * 30 + [1])
    graph = Graph(torch.rand(31, 3), undirected(np.array([0]), np.array([1]), 31), labels)
    source = as_source(graph, ["many", "one"])
    notes = {make_stream(source, split_seed=seed).notes for seed in range(20)}
    assert () in notes
    ((note,),) = notes - {()}
    assert "training node" in note
    assert note.endswith("'one'")


@pytest.mark.parametrize("inter_task_edges", [False, True], ids=["apart", "grown"])
def test_features_made_of_degrees_are_made_of_each_tasks_own_graph(inter_task_edges):
    source = degree_source(small_graph())
    stream = make_stream(source, inter_task_edges=inter_task_edges)
    for task in stream.tasks:
        assert dense(task.graph.features).equal(dense(degree_features(task.graph.adjacency)))
        assert task.graph.width == source.graph.width
    first = stream.tasks[0]
    assert not dense(first.graph.features).equal(dense(source.graph.features)[nodes_of(source, first)])


def test_one_hot_features_stay_and_eigenvectors_of_the_whole_graph_are_refused():
    source = small_graph()
    kept = make_stream(replace(source, made_features="one-hot")).tasks[0]
    assert kept.graph.features.equal(source.graph.features[nodes_of(source, kept)])
    with pytest.raises(ConfigError, match=r"spectral.*whole graph"):
        make_stream(replace(source, made_features="spectral"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"classes_per_task": 0}, r"classes_per_task\b.*\b0\b.*at least 1"),
        ({"order": "label"}, "'label'.*'labels'"),
        ({"remainder": "keep"}, "'keep'.*drop, last"),
        ({"classes_per_task": 9, "remainder": "drop"}, r"\b9\b.*\b6 classes.*'small'"),
    ],
)
def test_what_can_not_be_used_is_refused(options, sentence):
    with pytest.raises(ConfigError, match=sentence):
        make_stream(small_graph(), **options)


def test_more_classes_than_there_are_make_one_task():
    assert [task.classes for task in make_stream(small_graph(classes=3), classes_per_task=9).tasks] == [
        (0, 1, 2)
    ]


def test_a_task_with_nothing_to_test_is_refused():
    graph = Graph(torch.rand(2, 3), undirected(np.array([0]), np.array([1]), 2), torch.tensor([0, 1]))
    with pytest.raises(DataError, match=r"'a', 'b' of 'small'.* 2 nodes"):
        make_stream(as_source(graph, ["a", "b"]))
