"""What a network finds in the memory of a stream, beside what it finds in the tasks themselves."""

from collections.abc import Iterator, Sequence

import torch

from lqm.condensed import CondensedNodes
from lqm.graphs.continual.learning import of_memory, whole_graphs
from lqm.graphs.networks import GraphNetwork
from lqm.graphs.stream import Stream
from lqm.scores import ClassLatents, matched


@torch.no_grad()
def memory_latents(
    network: GraphNetwork, stream: Stream, memories: Sequence[CondensedNodes]
) -> Iterator[ClassLatents]:
    """Training nodes of each class in the graph of its task (500 at most), and those that are kept of it."""
    network.eval()
    device = torch.device("cpu")
    for task, inputs, memory in zip(stream.tasks, whole_graphs(stream, device), memories, strict=True):
        kept = of_memory(memory, device)
        around, own = network.embed(inputs), network.embed(kept.inputs)
        for output, nodes in zip(task.outputs, task.by_class, strict=True):
            mine = kept.nodes[kept.labels == output]
            yield ClassLatents(output, around[matched(nodes, output)], own[mine])
