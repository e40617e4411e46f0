"""Condensing all tasks in one run."""

from contextlib import nullcontext
from dataclasses import replace

import pytest
import torch

from lqm.distances import DISTANCES
from lqm.engine import RunFolder
from lqm.graphs.continual.condensing import MemoryCondenser
from lqm.graphs.continual.learning import Learner
from lqm.graphs.continual.pseudo_labels import find_pseudo_labelled
from lqm.graphs.continual.settings import CondensedReplaySettings
from lqm.graphs.graph import Graph
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaTSettings
from lqm.graphs.population import population
from lqm.graphs.problem import GraphProblem
from lqm.graphs.stream import make_stream
from tests.graphs.continual.making import CPU, as_source, small_graph

COUNTS = [[3, 2], [2, 4], [1, 3]]
LEARNING = CondensedReplaySettings(classifier="gcn:width=8", epochs=40, classifier_rate=0.02)


def nowhere(name):
    return nullcontext()


def condenser(**changes):
    settings = CaTSettings(steps=20, width=32)
    made = MemoryCondenser("cat", METHODS["cat"], DISTANCES["lqm"], COUNTS, settings, LEARNING, 7, CPU)
    return replace(made, **changes)


def condensed(stream, **changes):
    return condenser(**changes).memories(stream, nowhere, show_progress=False)[0]


def pseudo_labelled(stream, kept, folder=None, *, show_progress=False):
    settings = replace(LEARNING, pseudo_labels="test")
    return find_pseudo_labelled(stream, kept, settings, 7, CPU, folder, show_progress=show_progress)


@pytest.mark.parametrize("distance", ["mean", "lqm"])
@pytest.mark.parametrize("method", ["cat", "puma"])
def test_tasks_condensed_together_become_what_each_becomes_alone(distance, method):
    stream, spec = make_stream(small_graph()), METHODS[method]
    settings = spec.settings(steps=8, width=32)
    found = condensed(stream, distance=DISTANCES[distance], spec=spec, settings=settings)
    for task, counts, memory in zip(stream.tasks, COUNTS, found, strict=True):
        real = population(task.graph, task.by_class, stream.names(task), 1)
        problem = GraphProblem(
            class_names=real.class_names,
            counts=tuple(counts),
            distance=DISTANCES[distance],
            seed=7,
            device=CPU,
            real=real,
        )
        alone = spec.build(problem, settings)
        for step in range(8):
            alone.step(step)
        torch.testing.assert_close(memory.features, alone.result().features, rtol=0, atol=1e-5)
        assert memory.labels.equal(alone.result().labels + task.outputs.start)
        assert memory.class_names == stream.class_names


def test_confident_predictions_join_the_real_distribution():
    stream = make_stream(small_graph())
    plain = condensed(stream)
    every = condensed(stream, learning=replace(LEARNING, pseudo_labels="validation"))
    certain = condensed(stream, learning=replace(LEARNING, pseudo_labels="validation", pseudo_threshold=1.0))
    for task, one, two, three in zip(stream.tasks, plain, every, certain, strict=True):
        assert "pseudo_labelled" not in one.manifest
        assert 0 < two.manifest["pseudo_labelled"] <= len(task.validation)
        assert three.manifest["pseudo_labelled"] == 0
        assert not two.features.equal(one.features)
        assert three.features.equal(one.features)


def test_most_pseudo_labels_are_right():
    stream = make_stream(small_graph())
    for task, by_class in zip(stream.tasks, pseudo_labelled(stream, condensed(stream))[0], strict=True):
        assert torch.isin(torch.cat(by_class), task.test).all()
        right = sum(
            int((task.graph.labels[nodes] == output).sum())
            for output, nodes in zip(task.outputs, by_class, strict=True)
        )
        assert right > 0.7 * len(task.test)


def test_pseudo_labels_are_kept_task_by_task_with_their_seconds_and_shown(tmp_path, monkeypatch, capsys):
    stream = make_stream(small_graph())
    kept = condensed(stream)
    expected, _ = pseudo_labelled(stream, kept)
    learned, learn = [], Learner.learn

    def stopping(self, task, data):
        learned.append(task.number)
        if learned == [0, 1]:
            raise KeyboardInterrupt
        learn(self, task, data)

    monkeypatch.setattr(Learner, "learn", stopping)
    with RunFolder(tmp_path, {}, {}) as folder:
        with pytest.raises(KeyboardInterrupt):
            pseudo_labelled(stream, kept, folder)
        found, seconds = pseudo_labelled(stream, kept, folder, show_progress=True)
        again, same_seconds = pseudo_labelled(stream, kept, folder)
    assert learned == [0, 1, 1, 2]
    assert seconds == same_seconds > 0
    assert "pseudo-labels: 3/3" in capsys.readouterr().err
    for one, two, three in zip(expected, found, again, strict=True):
        assert all(map(torch.equal, one, two))
        assert all(map(torch.equal, one, three))


def test_the_seconds_of_pseudo_labels_are_counted(monkeypatch):
    made = condenser(learning=replace(LEARNING, pseudo_labels="test"))
    monkeypatch.setattr("lqm.methods.plan.run", lambda *_, **__: 100.0)
    _, seconds = made.memories(make_stream(small_graph()), nowhere, show_progress=False)
    assert 200 < seconds < 300


@pytest.mark.parametrize("pseudo_labels", ["none", "validation", "test"])
def test_true_labels_of_held_out_nodes_are_never_seen(pseudo_labels):
    source = small_graph()
    learning = replace(LEARNING, pseudo_labels=pseudo_labels)
    stream = make_stream(source)
    before = condensed(stream, learning=learning)
    labels = source.graph.labels.clone()
    for task in stream.tasks:
        nodes = torch.isin(source.graph.labels, torch.tensor(task.classes)).nonzero()[:, 0]
        held_out = nodes[torch.cat([task.validation, task.test])]
        labels[held_out] = sum(task.classes) - labels[held_out]
    assert not labels.equal(source.graph.labels)
    changed = as_source(Graph(source.graph.features, source.graph.adjacency, labels), source.class_names)
    after = condensed(make_stream(changed), learning=learning)
    assert all(one.features.equal(two.features) for one, two in zip(before, after, strict=True))
