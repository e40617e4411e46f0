"""Memories of real nodes: which of a task are kept, and which of the edges between them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine.randomness import generator, seeded
from lqm.graphs.continual.settings import RealMemorySettings, SubgraphSettings
from lqm.graphs.graph import Features, Graph, dense, rows
from lqm.graphs.networks import Inputs, make_network
from lqm.graphs.population import Population, choose_nodes, divided, own_or_propagated
from lqm.graphs.propagation import propagate
from lqm.graphs.stream import Stream, Task

# A task of a stream, how many nodes of each of its classes to keep, a seed, the settings: what is kept.
Store = Callable[[Stream, Task, Sequence[int], int, Any], CondensedNodes]

_ENCODER, _EMBEDDING = "gcn:width=512:depth=2", 256


def store_random(
    stream: Stream, task: Task, counts: Sequence[int], seed: int, settings: RealMemorySettings
) -> CondensedNodes:
    """Random training nodes of each class, without edges."""
    known = _TaskNodes(stream, task)
    return known.kept(known.random(counts, seed), settings)


def store_nearest_to_mean(
    stream: Stream, task: Task, counts: Sequence[int], seed: int, settings: RealMemorySettings
) -> CondensedNodes:
    """ER-GNN (Zhou & Cao 2021), "mean of feature": the nodes nearest to the mean embedding of their class.

    x_1, ..., x_k = the k training nodes of least ||phi(x) - mean of phi over the class||, without edges

    phi is a random GCN of 512 hidden and 256 last units, the same for all tasks, as in CaT's code. That code
    then keeps the nodes least similar to the mean, which is a slip: here it is the nearest, as in the paper.
    """
    nearest = []
    embeddings, known = random_embeddings(task.graph, seed), _TaskNodes(stream, task)
    for label, (nodes, count) in enumerate(zip(task.by_class, counts, strict=True)):
        choices = nodes[known.real.choices(label)]
        distances = (embeddings[choices] - embeddings[nodes].mean(dim=0)).norm(dim=1)
        order = distances.argsort(stable=True)
        nearest.append(choices[order[torch.arange(count) % len(order)]])
    return known.kept(torch.cat(nearest), settings)


def store_subgraph(
    stream: Stream, task: Task, counts: Sequence[int], seed: int, settings: SubgraphSettings
) -> CondensedNodes:
    """SSM, sparsified subgraph memory (Zhang et al. 2022): random nodes and all edges between stored ones.

    Sampled neighbours of a node, if any are asked for, are stored beside it as context: any node of the
    task's graph, without its label. They come after the labelled nodes and are not part of the budget.
    """
    known = _TaskNodes(stream, task)
    centres = known.random(counts, seed)
    context: list[int] = []
    adjacency = task.graph.adjacency
    for centre in centres.tolist():
        around = adjacency.indices[adjacency.indptr[centre] : adjacency.indptr[centre + 1]]
        draws = generator(seed, f"neighbours in task {task.number}", centre)
        context += around[
            torch.randperm(len(around), generator=draws)[: settings.neighbours].numpy()
        ].tolist()
    stored = set(centres.tolist())
    beside = torch.tensor([node for node in dict.fromkeys(context) if node not in stored], dtype=torch.int64)
    return known.kept(centres, settings, beside, edges=True)


@torch.no_grad()
def random_embeddings(graph: Graph, seed: int) -> Tensor:
    """What a random GCN of two layers makes of each node, [N, 256]."""
    with seeded(seed, "er-gnn"):
        encoder = make_network(_ENCODER, graph.width, _EMBEDDING)
    found: Tensor = encoder(Inputs(graph.features, graph.adjacency, torch.device("cpu")))
    return found


@dataclass(frozen=True, eq=False)
class _TaskNodes:
    """The nodes of a task, propagated once."""

    stream: Stream
    task: Task

    @cached_property
    def propagated(self) -> Features:
        """The propagated features of all nodes of the task's graph, [N, F]."""
        return propagate(self.task.graph.features, self.task.graph.adjacency)

    @cached_property
    def real(self) -> Population:
        """The training nodes by class."""
        task = self.task
        return divided(task.graph, self.propagated, task.by_class, self.stream.names(task))

    def random(self, counts: Sequence[int], seed: int) -> Tensor:
        """Random training nodes of each class: the same that a condensation starts from."""
        return torch.cat(
            [
                nodes[choose_nodes("random", self.real, label, count, seed)]
                for label, (nodes, count) in enumerate(zip(self.task.by_class, counts, strict=True))
            ]
        )

    def kept(
        self,
        nodes: Tensor,
        settings: RealMemorySettings,
        context: Tensor | None = None,
        *,
        edges: bool = False,
    ) -> CondensedNodes:
        """Some of them as a set: first those with a label, then those beside them without."""
        beside = nodes[:0] if context is None else context
        stored = torch.cat([nodes, beside])
        part = self.task.graph.part(stored)
        features = dense(rows(self.propagated, stored))
        if settings.features == "own":
            features = own_or_propagated(dense(part.features), features)
        pairs = np.stack(part.adjacency.nonzero()) if edges else np.zeros((2, 0))
        return CondensedNodes(
            features,
            torch.cat([part.labels[: len(nodes)], torch.full_like(beside, -1)]),
            self.stream.class_names,
            {},
            edges=torch.from_numpy(pairs.astype(np.int64)),
        )
