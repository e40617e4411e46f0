"""Nothing of a later task, and no label of a held-out node, reaches what comes before it."""

import numpy as np
import pytest
import torch
from safetensors.torch import load

from lqm.graphs.graph import Graph, undirected
from lqm.graphs.stream import make_stream
from lqm.streaming import continual
from tests.graphs.continual.making import TINY, as_source, small_graph

CHANGED = 4  # the classes from here on, which are the last task


def learned(source, method, folder, **options):
    settings = {
        name: value for name, value in TINY.items() if method == "cat" or name not in ("steps", "width")
    }
    options = {"budget": 5, **options} if method not in ("finetuning", "joint") else options
    settings |= {"epochs": 40, "classifier_rate": 0.02}
    return continual(
        source, method=method, settings=settings, out=folder, device="cpu", show_progress=False, **options
    )


def later_changed(source):
    """Other features, edges and labels in the last task, whose nodes also become fewer."""
    graph, draws = source.graph, np.random.default_rng(9)
    late = (graph.labels >= CHANGED).nonzero()[:, 0]
    features, labels = graph.features.clone(), graph.labels.clone()
    features[late] = torch.rand(len(late), graph.width)
    labels[late] = CHANGED + (labels[late] == CHANGED).long()
    labels[late[:3]] = -1
    pairs = np.stack(graph.adjacency.nonzero())
    early = ~np.isin(pairs, late.numpy()).any(axis=0)
    new = np.stack([draws.choice(late.numpy(), 60), draws.integers(0, graph.nodes, 60)])
    adjacency = undirected(*np.concatenate([pairs[:, early], new], axis=1), graph.nodes)
    return as_source(Graph(features, adjacency, labels), source.class_names)


@pytest.mark.parametrize("inter_task_edges", [False, True], ids=["apart", "grown"])
@pytest.mark.parametrize("method", ["cat", "random", "er-gnn", "ssm", "finetuning", "joint"])
def test_a_later_task_changes_nothing_before_it(tmp_path, method, inter_task_edges):
    source = small_graph()
    one = learned(source, method, tmp_path / "one", inter_task_edges=inter_task_edges)
    two = learned(later_changed(source), method, tmp_path / "two", inter_task_edges=inter_task_edges)
    for before, after in zip(one.memories[0][:2], two.memories[0][:2], strict=True):
        torch.testing.assert_close(before.features, after.features, rtol=0, atol=1e-6)
        assert before.labels.equal(after.labels)
        assert before.edges.equal(after.edges)
    assert one.matrix[:2, :2].tril().equal(two.matrix[:2, :2].tril())
    for name, part in model_after(tmp_path / "one", 2).items():
        torch.testing.assert_close(model_after(tmp_path / "two", 2)[name], part, rtol=0, atol=1e-6)
        assert not model_after(tmp_path / "two", 3)[name].equal(model_after(tmp_path / "one", 3)[name])
    assert one.matrix[1, :2].mean() > 0.3


def model_after(folder, tasks):
    (path,) = (folder / "repeat-0" / "checkpoints").glob(f"step-{tasks:09d}.*.safetensors")
    return {name: part for name, part in load(path.read_bytes()).items() if name.startswith("network.")}


@pytest.mark.parametrize("method", ["cat", "random", "er-gnn", "ssm", "finetuning", "joint"])
def test_labels_of_held_out_nodes_change_neither_memories_nor_models(tmp_path, method):
    source = small_graph()
    labels = source.graph.labels.clone()
    for task in make_stream(source).tasks:
        nodes = torch.isin(source.graph.labels, torch.tensor(task.classes)).nonzero()[:, 0]
        held_out = nodes[torch.cat([task.validation, task.test])]
        labels[held_out] = sum(task.classes) - labels[held_out]
    changed = as_source(Graph(source.graph.features, source.graph.adjacency, labels), source.class_names)
    one, two = learned(source, method, tmp_path / "one"), learned(changed, method, tmp_path / "two")
    for before, after in zip(one.memories[0], two.memories[0], strict=True):
        assert before.features.equal(after.features)
        assert before.labels.equal(after.labels)
    for name, part in model_after(tmp_path / "one", 3).items():
        assert model_after(tmp_path / "two", 3)[name].equal(part)
    assert not one.matrices.nan_to_num().equal(two.matrices.nan_to_num())
