"""Nothing of a later task, and no label of a held-out node, reaches what comes before it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load

from lqm.api.continual import continual
from lqm.graphs.graph import Graph, undirected
from lqm.graphs.stream import make_stream
from tests.graphs.continual.making import TINY, degree_source, small_graph

WAYS = {
    "cat": {},
    "cat-noise": {"settings": {"init": "noise"}},
    "cat-herding": {"settings": {"init": "herding"}},
    "cat-k-means": {"settings": {"init": "k-means"}},
    "cat-k-centre": {"settings": {"init": "k-centre"}},
    "cat-batches": {"settings": {"real_batch": 4}},
    "cat-whole-task": {"settings": {"train_in_memory": False}},
    "cat-shuffled": {"order": "shuffled", "order_seed": 1},
    "cat-degree": {},
    "puma": {"settings": {"updates": 2}},
    "random": {},
    "er-gnn": {},
    "ssm": {"settings": {"neighbours": 2}},
    "ssm-degree": {},
    "finetuning": {},
    "joint": {},
    "joint-degree": {},
}
ORDINARY = [way for way in WAYS if not way.endswith("degree")]
GROWN = ("cat", "cat-shuffled", "cat-degree", "puma", "random", "er-gnn", "ssm", "finetuning", "joint-degree")
UNKNOWING = ("cat-noise", "cat-degree", "ssm-degree", "joint-degree")  # too little to learn much of


@pytest.fixture(autouse=True)
def no_images(monkeypatch):
    monkeypatch.setattr("lqm.api.continual.heat_map", lambda *_: None)


def method_of(way):
    return way if way == "er-gnn" else way.partition("-")[0]


def learned(source, way, folder, **options):
    method, options = method_of(way), WAYS[way] | options
    settings = dict(TINY)
    if method not in ("cat", "puma"):
        del settings["steps"], settings["width"]
    if method not in ("finetuning", "joint"):
        options["budget"] = 5
    settings |= {"epochs": 25, "classifier_rate": 0.03} | options.pop("settings", {})
    options |= {"repeats": 1, "device": "cpu", "show_progress": False}
    return continual(source, method=method, settings=settings, out=folder, **options)


def tasks_of(source, way):
    order = {name: value for name, value in WAYS[way].items() if name.startswith("order")}
    return make_stream(source, **order).tasks


def later_changed(source, last):
    """Other features, edges and labels of the classes of the last task, whose nodes also become fewer."""
    graph, draws = source.graph, np.random.default_rng(9)
    late = torch.isin(graph.labels, torch.tensor(last)).nonzero()[:, 0]
    features, labels = graph.features.clone(), graph.labels.clone()
    features[late] = torch.rand(len(late), graph.width)
    labels[late] = sum(last) - labels[late]
    labels[late[:3]] = -1
    pairs = np.stack(graph.adjacency.nonzero())
    early = ~np.isin(pairs, late.numpy()).any(axis=0)
    new = np.stack([draws.choice(late.numpy(), 60), draws.integers(0, graph.nodes, 60)])
    adjacency = undirected(*np.concatenate([pairs[:, early], new], axis=1), graph.nodes)
    return changed(source, Graph(features, adjacency, labels))


def changed(source, graph):
    return replace(source, graph=graph, train=(graph.labels >= 0).nonzero()[:, 0])


@pytest.mark.parametrize(
    ("way", "inter_task_edges"),
    [*((way, False) for way in WAYS), *((way, True) for way in GROWN)],
    ids=[*(f"{way}-apart" for way in WAYS), *(f"{way}-grown" for way in GROWN)],
)
def test_a_later_task_changes_nothing_before_it(tmp_path, way, inter_task_edges):
    source = small_graph()
    other = later_changed(source, tasks_of(source, way)[-1].classes)
    if way.endswith("degree"):
        source, other = degree_source(source), degree_source(other)
    one = learned(source, way, tmp_path / "one", inter_task_edges=inter_task_edges)
    two = learned(other, way, tmp_path / "two", inter_task_edges=inter_task_edges)
    for before, after in zip(one.memories[0][:2], two.memories[0][:2], strict=True):
        torch.testing.assert_close(before.features, after.features, rtol=0, atol=1e-6)
        assert before.labels.equal(after.labels)
        assert before.edges.equal(after.edges)
    assert one.matrix[:2, :2].tril().equal(two.matrix[:2, :2].tril())
    for name, part in model_after(tmp_path / "one", 2).items():
        torch.testing.assert_close(model_after(tmp_path / "two", 2)[name], part, rtol=0, atol=1e-6)
        assert not model_after(tmp_path / "two", 3)[name].equal(model_after(tmp_path / "one", 3)[name])
    assert way in UNKNOWING or one.matrix[1, :2].mean() > 0.3


def model_after(folder, tasks):
    (path,) = (folder / "repeat-0" / "checkpoints").glob(f"step-{tasks:09d}.*.safetensors")
    return {name: part for name, part in load(path.read_bytes()).items() if name.startswith("network.")}


@pytest.mark.parametrize("way", ORDINARY)
def test_labels_of_held_out_nodes_change_neither_memories_nor_models(tmp_path, way):
    source = small_graph()
    labels = source.graph.labels.clone()
    for task in tasks_of(source, way):
        nodes = torch.isin(source.graph.labels, torch.tensor(task.classes)).nonzero()[:, 0]
        held_out = nodes[torch.cat([task.validation, task.test])]
        labels[held_out] = sum(task.classes) - labels[held_out]
    other = changed(source, replace(source.graph, labels=labels))
    one, two = learned(source, way, tmp_path / "one"), learned(other, way, tmp_path / "two")
    for before, after in zip(one.memories[0], two.memories[0], strict=True):
        assert before.features.equal(after.features)
        assert before.labels.equal(after.labels)
    for name, part in model_after(tmp_path / "one", 3).items():
        assert model_after(tmp_path / "two", 3)[name].equal(part)
    assert not one.matrices.nan_to_num().equal(two.matrices.nan_to_num())
