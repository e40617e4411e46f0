"""Going through a stream, against plain loops of PyTorch on dense matrices."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from lqm.engine.randomness import seeded
from lqm.graphs.continual.learning import (
    Learner,
    TrainingData,
    accuracy_row,
    of_memory,
    of_task,
    whole_graphs,
)
from lqm.graphs.continual.settings import LearningSettings, RealMemorySettings, SubgraphSettings
from lqm.graphs.continual.storing import store_random, store_subgraph
from lqm.graphs.networks import make_network
from lqm.graphs.propagation import normalised_adjacency
from lqm.graphs.stream import make_stream
from tests.graphs.continual.making import CPU, small_graph

SETTINGS = {"classifier": "gcn:width=8:depth=2", "epochs": 15, "classifier_rate": 0.01}


def dense_hat(adjacency):
    return torch.from_numpy(normalised_adjacency(adjacency).toarray())


def logits(weights, features, hat):
    one, two = (part for part in weights if part.ndim == 2)
    first, second = (part for part in weights if part.ndim == 1)
    return hat @ torch.relu(hat @ features @ one + first) @ two + second


def naive_weights(stream, seed):
    with seeded(seed, "classifier: network", 0):
        network = make_network(SETTINGS["classifier"], 10, len(stream.class_names))
    return [part.detach().clone().requires_grad_() for part in network.parameters()]


def naive_training(weights, optimizer, parts, classes):
    """`parts`: features, dense A_hat, nodes and labels of each graph; one loss over all their nodes."""
    for _ in range(SETTINGS["epochs"]):
        found = torch.cat([logits(weights, x, hat)[nodes, :classes] for x, hat, nodes, _ in parts])
        optimizer.zero_grad()
        F.cross_entropy(found, torch.cat([labels for *_, labels in parts])).backward()
        optimizer.step()


def whole(task, *, edges=True):
    hat = dense_hat(task.graph.adjacency) if edges else torch.eye(task.graph.nodes)
    return task.graph.features, hat, task.train, task.graph.labels[task.train]


def lesson_for(stream, memories=None, *, keeps=True, in_memory=True):
    sets = None if memories is None else [of_memory(memory, CPU) for memory in memories]
    return TrainingData(stream, whole_graphs(stream, CPU), sets, keeps=keeps, in_memory=in_memory)


def check(stream, training_data, naive_parts, *, edge_free=False):
    learner = Learner(stream, LearningSettings(**SETTINGS, edge_free=edge_free), 3, CPU, "classifier")
    weights = naive_weights(stream, 3)
    optimizer = torch.optim.Adam(weights, 0.01, weight_decay=5e-4)
    graphs = whole_graphs(stream, CPU)
    for task in stream.tasks:
        learner.learn(task, training_data.at(task))
        naive_training(weights, optimizer, naive_parts(task), task.outputs.stop)
        for found, expected in zip(learner.network.parameters(), weights, strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)
        row = accuracy_row(learner.network, stream, graphs, task.number, among_task=False)
        for earlier, accuracy in zip(stream.tasks[: task.number + 1], row, strict=True):
            own = logits(weights, earlier.graph.features, dense_hat(earlier.graph.adjacency))
            right = own[earlier.test, : task.outputs.stop].argmax(1) == earlier.graph.labels[earlier.test]
            assert accuracy == pytest.approx(right.double().mean().item(), abs=1e-9)


def test_finetuning_trains_on_each_task_in_turn_with_one_adam():
    stream = make_stream(small_graph())
    check(stream, lesson_for(stream, keeps=False), lambda task: [whole(task)])


def test_joint_trains_on_all_tasks_so_far():
    stream = make_stream(small_graph())
    check(stream, lesson_for(stream), lambda task: [whole(t) for t in stream.tasks[: task.number + 1]])


def test_joint_with_inter_task_edges_trains_on_the_grown_graph_once():
    stream = make_stream(small_graph(), inter_task_edges=True)

    def parts(task):
        nodes = torch.cat([t.train for t in stream.tasks[: task.number + 1]])
        return [(task.graph.features, dense_hat(task.graph.adjacency), nodes, task.graph.labels[nodes])]

    check(stream, lesson_for(stream), parts)


def random_memories(stream):
    return [store_random(stream, task, [2, 3], 0, RealMemorySettings()) for task in stream.tasks]


def of(memory):
    labelled = (memory.labels >= 0).nonzero()[:, 0]
    adjacency = torch.zeros(len(memory.labels), len(memory.labels))
    adjacency[tuple(memory.edges)] = 1
    hat = adjacency + torch.eye(len(adjacency))
    hat = hat / (hat.sum(0)[:, None] * hat.sum(0)).sqrt()
    return memory.features, hat, labelled, memory.labels[labelled]


def test_in_memory_only_what_is_kept_is_trained_on():
    stream = make_stream(small_graph())
    memories = random_memories(stream)
    check(stream, lesson_for(stream, memories), lambda task: [of(m) for m in memories[: task.number + 1]])


def test_not_in_memory_the_present_task_is_seen_whole():
    stream = make_stream(small_graph())
    memories = random_memories(stream)
    check(
        stream,
        lesson_for(stream, memories, in_memory=False),
        lambda task: [*(of(m) for m in memories[: task.number]), whole(task)],
    )


def test_a_subgraph_memory_is_trained_on_with_its_edges_and_context():
    stream = make_stream(small_graph())
    memories = [store_subgraph(stream, t, [2, 3], 0, SubgraphSettings(neighbours=3)) for t in stream.tasks]
    check(stream, lesson_for(stream, memories), lambda task: [of(m) for m in memories[: task.number + 1]])


def test_edge_free_training_has_no_message_passing_but_testing_has():
    stream = make_stream(small_graph())
    check(stream, lesson_for(stream, keeps=False), lambda task: [whole(task, edges=False)], edge_free=True)


def test_retraining_forgets_network_and_adam():
    stream = make_stream(small_graph())
    settings = LearningSettings(**SETTINGS, retrain=True)
    graphs = whole_graphs(stream, CPU)
    through, late = (Learner(stream, settings, 3, CPU, "classifier") for _ in range(2))
    for task in stream.tasks:
        through.learn(task, of_task(task, graphs[task.number]))
    last = stream.tasks[-1]
    late.learn(last, of_task(last, graphs[last.number]))
    for one, two in zip(through.network.parameters(), late.network.parameters(), strict=True):
        assert one.equal(two)


def test_task_scoring_chooses_among_the_tasks_classes():
    stream = make_stream(small_graph())
    graphs = whole_graphs(stream, CPU)
    learner = Learner(stream, LearningSettings(**SETTINGS), 0, CPU, "classifier")
    for task in stream.tasks:
        learner.learn(task, of_task(task, graphs[task.number]))
    among_all = accuracy_row(learner.network, stream, graphs, 2, among_task=False)
    among_own = accuracy_row(learner.network, stream, graphs, 2, among_task=True)
    with torch.no_grad():
        for task, found in zip(stream.tasks, among_own, strict=True):
            own = learner.network(graphs[task.number])[task.test][:, list(task.outputs)].argmax(1)
            expected = (own + task.outputs.start == task.graph.labels[task.test]).double().mean().item()
            assert found == pytest.approx(expected)
    assert sum(among_own) > sum(among_all)


def test_a_state_taken_up_again_goes_on_bit_for_bit():
    stream = make_stream(small_graph())
    graphs = whole_graphs(stream, CPU)
    straight, before, after = (
        Learner(stream, LearningSettings(**SETTINGS), 0, CPU, "classifier") for _ in range(3)
    )
    first, second = (of_task(task, graphs[task.number]) for task in stream.tasks[:2])
    for learner in (straight, before):
        learner.learn(stream.tasks[0], first)
    after.load_state(before.state())
    for learner in (straight, after):
        learner.learn(stream.tasks[1], second)
    assert all(part.equal(after.state()[name]) for name, part in straight.state().items())
