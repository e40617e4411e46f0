"""A graph that arrives in parts: a stream of tasks, each with classes, a graph and a split of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.graphs.graph import Graph
from lqm.graphs.population import Population, joined, population
from lqm.graphs.sources.features import degree_features
from lqm.graphs.sources.source import GraphSource
from lqm.utils.errors import ConfigError, DataError
from lqm.utils.names import choose
from lqm.utils.sentences import counted
from lqm.utils.settings import Count, check

_ORDERS = dict.fromkeys(("labels", "shuffled"))
_REMAINDERS = dict.fromkeys(("last", "drop"))
_HELD_OUT = 0.2
# Notes of a source that are not true of a stream: of its nodes without a label, and of its split.
_UNTRUE = ("no label:", "published split")
_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Task:
    """Classes that arrive at the same time, with all data that may be used then.

    Attributes:
        number: its position in the stream, from 0.
        classes: its class numbers in the source, in the order of its outputs.
        outputs: the numbers of its classes in the order of the stream, those of a classifier's outputs.
        graph: without any node of a later task; labels are outputs.
        train: numbers, in that graph, of training nodes of the task's classes; `validation` and `test` alike.
            In a stream that is scored on validation nodes these are `test`, and the others have no label.
    """

    number: int
    classes: tuple[int, ...]
    outputs: range
    graph: Graph = field(repr=False)
    train: Tensor = field(repr=False)
    validation: Tensor = field(repr=False)
    test: Tensor = field(repr=False)

    @property
    def nodes(self) -> int:
        """Number of nodes of its own classes."""
        return len(self.train) + len(self.validation) + len(self.test)

    @property
    def by_class(self) -> list[Tensor]:
        """Its training nodes of each class, in the order of its outputs."""
        labels = self.graph.labels[self.train]
        return [self.train[labels == output] for output in self.outputs]


@dataclass(frozen=True, eq=False)
class Stream:
    """Tasks in the order in which they arrive.

    Attributes:
        class_names: of all classes of the stream, in the order of the outputs.
        inter_task_edges: whether the graph of a task contains those of all tasks before, and the edges to
            them; a node then has the same number in the graphs of all tasks from its own on.
        notes: what was done to the graph while it was read and divided, a sentence each.
    """

    tasks: tuple[Task, ...]
    class_names: tuple[str, ...]
    inter_task_edges: bool
    notes: tuple[str, ...] = ()

    def population(self, hops: int, by_class: Sequence[Sequence[Tensor]] | None = None) -> Population:
        """The training nodes of all classes, task after task, each propagated in the graph of its task.

        Args:
            hops: how often.
            by_class: numbers of the nodes of each class of each task, if they are not the training nodes.
        """
        nodes = [task.by_class for task in self.tasks] if by_class is None else by_class
        return joined(
            [
                population(task.graph, own, self.names(task), hops)
                for task, own in zip(self.tasks, nodes, strict=True)
            ]
        )

    def names(self, task: Task) -> tuple[str, ...]:
        """The names of a task's classes."""
        return tuple(self.class_names[output] for output in task.outputs)


def make_stream(
    source: GraphSource,
    *,
    classes_per_task: int = 2,
    order: str = "labels",
    order_seed: int = 0,
    inter_task_edges: bool = False,
    remainder: str = "last",
    split_seed: int = 0,
    validation: bool = False,
) -> Stream:
    """Divide a graph into tasks (class-incremental, as in Liu et al. 2023, "CaT").

    The split of the source is not used. Of each task's nodes, at random and not by class, 20 % (rounded) are
    for validation, 20 % for testing and the rest for training; a class that would have no training node gets
    one of those held out. The split depends on the split seed, and the names and nodes of the task's classes,
    not on other tasks. Nodes without a label belong to no task. Features that were made of the degrees are
    made anew from each task's graph, so that they do not depend on later tasks.

    Args:
        source: the graph and its class names.
        classes_per_task: how many classes arrive at a time.
        order: of the classes: that of their numbers (`labels`), or `shuffled` by `order_seed`.
        order_seed: of the shuffled order.
        inter_task_edges: False gives each task the subgraph of its own nodes; True gives it also the nodes of
            all tasks before, and all edges between them.
        remainder: where classes go that do not fill a task: into a smaller one at the end (`last`), or
            nowhere (`drop`, as the paper does).
        split_seed: of the split of every task.
        validation: let validation and test nodes change places, and remove the labels of the latter, so that
            settings can be chosen without them.

    Raises:
        ConfigError: when an argument can't be used, no task comes out, or the features are spectral.
        DataError: when a task has too few nodes to test with.
    """
    choose(order, _ORDERS, "order of classes")
    choose(remainder, _REMAINDERS, "way with a remainder")
    check("classes_per_task", classes_per_task, Count)
    check_features(source.made_features)
    classes = list(range(len(source.class_names)))
    if order == "shuffled":
        classes = torch.randperm(len(classes), generator=generator(order_seed, "order of classes")).tolist()
    if remainder == "drop":
        classes = classes[: len(classes) // classes_per_task * classes_per_task]
    if not classes:
        raise ConfigError(
            f"classes_per_task = {classes_per_task} is more than the {len(source.class_names)} classes of "
            f"'{source.name}', which would all be dropped; ask for fewer, or for remainder='last'"
        )
    names = tuple(source.class_names[label] for label in classes)
    outputs = torch.full((len(source.class_names) + 1,), -1)  # the last place is that of the label -1
    outputs[classes] = torch.arange(len(classes))
    whole = Graph(source.graph.features, source.graph.adjacency, outputs[source.graph.labels])
    tasks: list[Task] = []
    rescued: list[str] = []
    before = torch.zeros(0, dtype=torch.int64)
    for start in range(0, len(classes), classes_per_task):
        own = range(start, min(start + classes_per_task, len(classes)))
        nodes = ((whole.labels >= own.start) & (whole.labels < own.stop)).nonzero()[:, 0]
        parts, saved = _split(whole.labels[nodes], own, names, split_seed, source.name, validation=validation)
        rescued += saved
        if validation:
            whole.labels[nodes[parts[1]]] = -1
        seen = torch.cat([before, nodes])
        graph = whole.part(seen)
        if source.made_features == "degree":
            graph = replace(graph, features=degree_features(graph.adjacency))
        numbers = (part + len(before) for part in parts)
        tasks.append(Task(len(tasks), tuple(classes[own.start : own.stop]), own, graph, *numbers))
        if inter_task_edges:
            before = seen
    return Stream(tuple(tasks), names, inter_task_edges, _notes(source, rescued))


def _notes(source: GraphSource, rescued: Sequence[str]) -> tuple[str, ...]:
    """The notes of the source that are true of a stream, and those of making it."""
    notes = [note for note in source.notes if not any(words in note for words in _UNTRUE)]
    if unlabelled := int((source.graph.labels < 0).sum()):
        left_out = counted(unlabelled, "node has no label: it is", "nodes have no label: they are")
        notes.append(f"{left_out} in no task and left out, with all edges")
    if rescued:
        classes = counted(len(rescued), "class", "classes")
        shown = ", ".join(f"'{name}'" for name in rescued[:_SHOWN]) + ", ..." * (len(rescued) > _SHOWN)
        notes.append(f"{classes} without a training node got one of those held out: {shown}")
    return tuple(notes)


def check_features(made: str | None) -> None:
    """Refuse spectral features, which a stream can't have."""
    if made == "spectral":
        raise ConfigError(
            "features spectral are eigenvectors of the whole graph, later tasks included, and those of one "
            "task say nothing in another; give features degree or one-hot (--features)"
        )


def _split(
    labels: Tensor, outputs: range, names: tuple[str, ...], seed: int, source: str, *, validation: bool
) -> tuple[list[Tensor], list[str]]:
    """Training, validation and test nodes of a task with outputs `labels`, [n], and the rescued classes."""
    own = [names[output] for output in outputs]
    held_out = round(_HELD_OUT * len(labels))
    draws = generator(seed, "split of " + "\0".join(sorted(own)))
    shuffled = torch.randperm(len(labels), generator=draws)
    part = torch.zeros(len(labels), dtype=torch.int64)
    part[shuffled[:held_out]] = 1
    part[shuffled[held_out : 2 * held_out]] = 2
    rescued = []
    for output in outputs:
        members = (labels == output).nonzero()[:, 0]
        if not (part[members] == 0).any():
            part[members[part[members].argmin()]] = 0
            rescued.append(names[output])
    parts = [(part == number).nonzero()[:, 0] for number in ((0, 2, 1) if validation else range(3))]
    if not len(parts[2]):
        raise DataError(
            f"the task of {', '.join(repr(name) for name in own)} of '{source}' has {len(labels)} nodes, too "
            "few to test with; put more classes into a task, or leave its classes out"
        )
    return parts, rescued
