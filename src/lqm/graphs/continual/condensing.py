"""Memories of synthetic nodes: all tasks of a stream condensed in one run."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.distances import Distance
from lqm.engine import RunFolder, run
from lqm.graphs.continual.pseudo_labels import find_pseudo_labelled
from lqm.graphs.continual.settings import CondensedReplaySettings
from lqm.graphs.methods import GraphMethod
from lqm.graphs.methods.settings import CaTSettings
from lqm.graphs.population import joined, population
from lqm.graphs.stream import Stream
from lqm.methods.plan import titled

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
        with place("pseudo-labels") as folder:
            joining, finding = find_pseudo_labelled(
                stream, kept, self.learning, self.seed, self.device, folder, show_progress=show_progress
            )
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
        whole = [replace(memory, manifest={"pseudo_labelled": size}) for memory, size in noted]
        return whole, seconds + finding + longer

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
