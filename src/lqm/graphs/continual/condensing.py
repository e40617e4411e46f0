"""Memories of synthetic nodes: all tasks of a stream condensed in one run."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.distances import Distance
from lqm.engine import RunFolder, run
from lqm.graphs.continual.learning import Learner, of_memory, whole_graphs
from lqm.graphs.continual.settings import CondensedReplaySettings
from lqm.graphs.methods import GraphMethod
from lqm.graphs.methods.cat import CaTSettings
from lqm.graphs.population import joined, population
from lqm.graphs.stream import Stream
from lqm.graphs.training import together
from lqm.planning import titled

# A name below the folder of a repeat becomes a run folder, or nothing if nothing is to be kept.
Place = Callable[[str], AbstractContextManager[RunFolder | None]]


@dataclass(frozen=True, eq=False)
class Condensation:
    """How the tasks of a stream are condensed.

    All of them in one run, before any is learned, and each step has one encoder for all. This is the same, in
    distribution, as one task after another: a class's nodes, loss and Adam moments are its own, so that no
    task changes what another becomes, and the encoder is random.

    Attributes:
        name: of the method.
        method: makes synthetic nodes.
        distance: what is matched.
        counts: synthetic nodes of each class, by task.
        settings: of the method.
        learning: of the classifier; says whether there are pseudo-labels.
        seed: everything random follows from it.
        device: where to compute.
    """

    name: str
    method: GraphMethod
    distance: Distance
    counts: Sequence[Sequence[int]]
    settings: CaTSettings
    learning: CondensedReplaySettings
    seed: int
    device: torch.device

    def memories(
        self, stream: Stream, place: Place, *, show_progress: bool
    ) -> tuple[list[CondensedNodes], float]:
        """What is kept of each task, and the seconds that it took."""
        labelled = [task.by_class for task in stream.tasks]
        title = titled(self.name, self.distance)
        with place("condense") as folder:
            kept, seconds = self._condense(stream, labelled, folder, title, show_progress=show_progress)
        if self.learning.pseudo_labels == "none":
            return kept, seconds
        joining = self._pseudo_labelled(stream, kept)
        more = [
            [torch.cat(pair) for pair in zip(own, others, strict=True)]
            for own, others in zip(labelled, joining, strict=True)
        ]
        with place("condense-again") as folder:
            again, longer = self._condense(
                stream, more, folder, f"{title}, again", show_progress=show_progress
            )
        sizes = [sum(map(len, others)) for others in joining]
        noted = zip(again, sizes, strict=True)
        return [replace(m, manifest={"pseudo_labelled": size}) for m, size in noted], seconds + longer

    def _condense(
        self,
        stream: Stream,
        by_class: Sequence[Sequence[Tensor]],
        folder: RunFolder | None,
        title: str,
        *,
        show_progress: bool,
    ) -> tuple[list[CondensedNodes], float]:
        real = joined(
            [
                population(task.graph, nodes, stream.names(task), self.settings.hops)
                for task, nodes in zip(stream.tasks, by_class, strict=True)
            ]
        )
        counts = [count for task in self.counts for count in task]
        method = self.method(real, self.distance, counts, self.seed, self.settings, self.device)
        seconds = run(method, self.settings.steps, folder, name=title, show_progress=show_progress)
        result = method.result()
        sizes = [sum(task) for task in self.counts]
        parts = zip(result.data.split(sizes), result.labels.split(sizes), strict=True)
        return [CondensedNodes(x.clone(), y.clone(), stream.class_names, {}) for x, y in parts], seconds

    def _pseudo_labelled(self, stream: Stream, kept: Sequence[CondensedNodes]) -> list[list[Tensor]]:
        """Nodes of each task that join it with a predicted class, by class.

        The class is that of a fresh classifier, trained on the memory of all tasks so far.
        """
        learning = replace(self.learning, retrain=True)
        learner = Learner(stream, learning, self.seed, self.device, "pseudo-labels")
        memories = [of_memory(memory, self.device) for memory in kept]
        found = []
        for task, inputs in zip(stream.tasks, whole_graphs(stream, self.device), strict=True):
            learner.learn(task, together(memories[: task.number + 1]))
            nodes = task.validation if self.learning.pseudo_labels == "validation" else task.test
            with torch.no_grad():
                logits = learner.network.eval()(inputs)[nodes.to(self.device)]
            likely = logits[:, task.outputs.start : task.outputs.stop].softmax(dim=1).max(dim=1)
            believed = (likely.values >= self.learning.pseudo_threshold).cpu()
            classes = likely.indices.cpu()
            found.append([nodes[believed & (classes == own)] for own in range(len(task.outputs))])
        return found
