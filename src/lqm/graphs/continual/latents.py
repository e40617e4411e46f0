"""What a network finds in the memory of a stream, beside what it finds in the tasks themselves."""

from collections.abc import Iterator, Sequence

import torch

from lqm.condensed import CondensedNodes
from lqm.evaluation.latents import ClassLatents, matched
from lqm.graphs.continual.learning import of_memory, whole_graphs
from lqm.graphs.networks import GraphNetwork
from lqm.graphs.stream import Stream


@torch.no_grad()
def memory_latents(
    network: GraphNetwork, stream: Stream, sets: Sequence[Sequence[CondensedNodes]]
) -> Iterator[list[ClassLatents]]:
    """Training nodes of each class in the graph of its task (500 at most), and those that are kept of it.

    Args:
        network: looks at them.
        stream: the tasks.
        sets: the memories of all tasks, of each of several ways to keep them; nothing where none is kept.
    """
    network.eval()
    device = torch.device("cpu")
    around = [network.embed(inputs) for inputs in whole_graphs(stream, device)]
    for memories in sets:
        found = []
        for task, real, memory in zip(stream.tasks, around, memories, strict=True) if memories else ():
            kept = of_memory(memory, device)
            own = network.embed(kept.inputs)
            for output, nodes in zip(task.outputs, task.by_class, strict=True):
                mine = kept.nodes[kept.labels == output]
                found.append(ClassLatents(output, real[matched(nodes, output)], own[mine]))
        yield found
