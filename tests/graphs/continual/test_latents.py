import numpy as np
import torch

from lqm.condensed import CondensedNodes
from lqm.graphs.continual import memory_latents
from lqm.graphs.graph import dense
from lqm.graphs.networks import Inputs, make_network
from lqm.graphs.sources import load_graph
from lqm.graphs.stream import make_stream


def a_stream():
    source = load_graph("synthetic:nodes=200,classes=5", split="random", show_progress=False)
    return make_stream(source, classes_per_task=2)


def whole_memory(stream, task):
    """All of a task as its memory: every node and edge, a label where it is to be learned from."""
    labels = torch.full((task.graph.nodes,), -1)
    labels[task.train] = task.graph.labels[task.train]
    edges = torch.from_numpy(np.stack(task.graph.adjacency.nonzero())).long()
    return CondensedNodes(dense(task.graph.features), labels, stream.class_names, {}, None, edges)


def test_a_memory_of_everything_looks_like_the_task_itself():
    stream = a_stream()
    network = make_network("gcn:width=8", stream.tasks[0].graph.width, len(stream.class_names))
    memory = [whole_memory(stream, task) for task in stream.tasks]
    nothing, found = memory_latents(network, stream, [[], memory])
    assert nothing == []
    assert [label for label, _, _ in found] == list(range(5))
    for _, real, own in found:
        torch.testing.assert_close(own, real)


def test_real_nodes_are_seen_in_the_graph_of_their_task():
    stream = a_stream()
    network = make_network("gcn:width=8", stream.tasks[0].graph.width, len(stream.class_names)).eval()
    memory = [whole_memory(stream, task) for task in stream.tasks]
    nothing, found = memory_latents(network, stream, [[], memory])
    assert nothing == []
    for task in stream.tasks:
        around = network.embed(Inputs(task.graph.features, task.graph.adjacency, torch.device("cpu")))
        for output, nodes in zip(task.outputs, task.by_class, strict=True):
            torch.testing.assert_close(found[output].real, around[nodes].detach())
