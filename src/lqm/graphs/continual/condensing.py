"""Memories of synthetic nodes: all tasks of a stream condensed in one run."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from lqm.banks import Sketch
from lqm.condensed import CondensedNodes
from lqm.distances import Distance
from lqm.engine import RunFolder
from lqm.graphs.continual.pseudo_labels import find_pseudo_labelled
from lqm.graphs.continual.settings import CondensedReplaySettings
from lqm.graphs.population import featureless
from lqm.graphs.problem import GraphProblem
from lqm.graphs.stream import Stream
from lqm.methods.plan import Following, Plan, learn, titled
from lqm.methods.spec import MethodSpec

# A name below the folder of a repeat becomes a run folder, or nothing if nothing is to be kept.
OpenFolder = Callable[[str], AbstractContextManager[RunFolder | None]]


@dataclass(frozen=True, eq=False)
class MemoryCondenser:
    """How the tasks of a stream are condensed.

    All of them in one run, before any is learned, and each step has one encoder for all. This is the same, in
    distribution, as one task after another: a class's nodes, loss and Adam moments are its own, so that no
    task changes what another becomes, and the encoder is random.

    Attributes:
        name: of the method.
        spec: of the method.
        distance: what is matched.
        counts: synthetic nodes of each class, by task.
        settings: of the method.
        learning: of the classifier; says whether there are pseudo-labels.
        seed: everything random follows from it.
        device: where to compute.
        sketch: of the same stream, in place of passes over its nodes.
    """

    name: str
    spec: MethodSpec
    distance: Distance
    counts: Sequence[Sequence[int]]
    settings: Any
    learning: CondensedReplaySettings
    seed: int
    device: torch.device
    sketch: Sketch | None = None

    def memories(
        self, stream: Stream, open_folder: OpenFolder, *, show_progress: bool
    ) -> tuple[list[CondensedNodes], float]:
        """What is kept of each task, and the seconds that it took."""
        labelled = [task.by_class for task in stream.tasks]
        title = titled(self.name, self.distance)
        following = Following(show_progress)
        with open_folder("condense") as folder:
            kept, seconds = self._condense(stream, labelled, folder, title, following)
        if self.learning.pseudo_labels == "none":
            return kept, seconds
        with open_folder("pseudo-labels") as folder:
            joining, finding = find_pseudo_labelled(
                stream, kept, self.learning, self.seed, self.device, folder, show_progress=show_progress
            )
        more = [
            [torch.cat(pair) for pair in zip(own, others, strict=True)]
            for own, others in zip(labelled, joining, strict=True)
        ]
        with open_folder("condense-again") as folder:
            again, longer = self._condense(stream, more, folder, f"{title}, again", following)
        sizes = [sum(map(len, others)) for others in joining]
        pairs = zip(again, sizes, strict=True)
        whole = [replace(memory, manifest={"pseudo_labelled": size}) for memory, size in pairs]
        return whole, seconds + finding + longer

    def _condense(
        self,
        stream: Stream,
        by_class: Sequence[Sequence[Tensor]],
        folder: RunFolder | None,
        title: str,
        following: Following,
    ) -> tuple[list[CondensedNodes], float]:
        """The set of each task, by the same path as any other condensation."""
        real = stream.population(self.settings.hops, by_class)
        notes = tuple(featureless(real))
        problem = GraphProblem(
            class_names=real.class_names,
            counts=tuple(count for task in self.counts for count in task),
            distance=self.distance,
            seed=self.seed,
            device=self.device,
            sketch=self.sketch,
            real=real,
        )
        method = self.spec.build(problem, self.settings)
        plan = Plan(method, self.settings.steps, source=None, config={}, record={}, title=title, notes=notes)
        result = learn(plan, folder, following)
        sizes = [sum(task) for task in self.counts]
        parts = zip(result.data.split(sizes), result.labels.split(sizes), strict=True)
        memories = [CondensedNodes(x.clone(), y.clone(), stream.class_names, {}) for x, y in parts]
        return memories, float(result.manifest["seconds"])
