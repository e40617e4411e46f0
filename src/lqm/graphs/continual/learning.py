"""A classifier that goes through a stream, and what it is trained on at each task."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine.optimizers import load_moments, save_moments
from lqm.engine.randomness import seeded
from lqm.graphs.continual.settings import LearningSettings
from lqm.graphs.graph import as_graph
from lqm.graphs.networks import GraphNetwork, Inputs, make_network
from lqm.graphs.stream import Stream, Task
from lqm.graphs.training import TrainingSet, accuracy, adam, together, train

_MOMENTS = "adam.{name}.{moment}"


class Learner:
    """One network and one Adam, kept from task to task unless they are to begin anew.

    Args:
        stream: says how many features and outputs there are.
        settings: of the network and its training.
        seed: everything random follows from it.
        device: where to compute.
        purpose: tells the randomness of one learner from that of another.
    """

    def __init__(
        self, stream: Stream, settings: LearningSettings, seed: int, device: torch.device, purpose: str
    ) -> None:
        self._settings, self._seed, self._device, self._purpose = settings, seed, device, purpose
        self._shape = stream.tasks[0].graph.width, len(stream.class_names)
        self._begin(0)

    def learn(self, task: Task, data: TrainingSet) -> None:
        """Train at one task; of the outputs only those of the classes seen so far take part."""
        options = self._settings
        if options.retrain and task.number:
            self._begin(task.number)
        seen = (
            TrainingSet(data.inputs.without_edges(), data.nodes, data.labels) if options.edge_free else data
        )
        with seeded(self._seed, f"{self._purpose}: training", task.number):
            train(self.network, self._optimizer, seen, epochs=options.epochs, classes=task.outputs.stop)

    def state(self) -> dict[str, Tensor]:
        """Weights, and the moments of their Adam."""
        weights = {f"network.{name}": part for name, part in self.network.state_dict().items()}
        state = weights | save_moments(self._optimizer, self._numbered(), _MOMENTS)
        return {name: part.detach().clone() for name, part in state.items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load weights and moments."""
        weights = {name: part for name, part in state.items() if name.startswith("network.")}
        self.network.load_state_dict({name.removeprefix("network."): part for name, part in weights.items()})
        load_moments(self._optimizer, self._numbered(), _MOMENTS, state)

    def _numbered(self) -> dict[str, Tensor]:
        return {str(number): weight for number, weight in enumerate(self.network.parameters())}

    def _begin(self, number: int) -> None:
        with seeded(self._seed, f"{self._purpose}: network", number):
            self.network: GraphNetwork = make_network(self._settings.classifier, *self._shape).to(
                self._device
            )
        self._optimizer = adam(self.network, self._settings.classifier_rate, self._settings.classifier_decay)


def whole_graphs(stream: Stream, device: torch.device) -> list[Inputs]:
    """The graph of each task as networks see it."""
    return [Inputs(task.graph.features, task.graph.adjacency, device) for task in stream.tasks]


def of_task(task: Task, inputs: Inputs) -> TrainingSet:
    """All training nodes of a task, in its whole graph."""
    return TrainingSet(inputs, task.train, task.graph.labels[task.train])


def of_memory(memory: CondensedNodes, device: torch.device) -> TrainingSet:
    """The nodes of a memory that have a label, in the graph of all that it holds."""
    graph = as_graph(memory)
    labelled = (graph.labels >= 0).nonzero()[:, 0]
    return TrainingSet(Inputs(graph.features, graph.adjacency, device), labelled, graph.labels[labelled])


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What is trained on at each task of a stream.

    Attributes:
        stream: the tasks.
        graphs: the whole graph of each.
        memories: what is kept of each; None if all of it is, or nothing.
        keeps: whether anything of tasks before is looked at again.
        in_memory: whether the present task too is looked at in memory only.
    """

    stream: Stream
    graphs: Sequence[Inputs]
    memories: Sequence[TrainingSet] | None
    keeps: bool
    in_memory: bool

    def at(self, task: Task) -> TrainingSet:
        """What is trained on when a task has arrived."""
        number = task.number
        if self.memories is not None:
            if self.in_memory:
                return together(self.memories[: number + 1])
            return together([*self.memories[:number], of_task(task, self.graphs[number])])
        if not self.keeps:
            return of_task(task, self.graphs[number])
        if self.stream.inter_task_edges:
            nodes = torch.cat([earlier.train for earlier in self.stream.tasks[: number + 1]])
            return TrainingSet(self.graphs[number], nodes, task.graph.labels[nodes])
        earlier_tasks = zip(self.stream.tasks[: number + 1], self.graphs, strict=False)
        return together([of_task(earlier, inputs) for earlier, inputs in earlier_tasks])


def accuracy_row(
    network: GraphNetwork, stream: Stream, graphs: Sequence[Inputs], number: int, *, among_task: bool
) -> list[float]:
    """Row `number` of the accuracy matrix: A[k, i] of the test nodes of each task i <= k, in its own graph.

    Args:
        network: as it is after task `number`.
        stream: the tasks.
        graphs: the whole graph of each; with message passing, and as it was when the task arrived.
        number: k.
        among_task: choose among the task's own classes (task-incremental), not all those seen so far.
    """
    row = []
    for task, inputs in zip(stream.tasks[: number + 1], graphs, strict=False):
        seen = task.outputs if among_task else range(stream.tasks[number].outputs.stop)
        among = torch.tensor(list(seen))
        row.append(accuracy(network, inputs, task.test, task.graph.labels[task.test], among=among))
    return row
