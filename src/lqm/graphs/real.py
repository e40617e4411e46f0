"""T in S* = argmin D(phi(T), phi(S)), of graphs: the real nodes of a step."""

from collections.abc import Iterator

import numpy as np
import torch

from lqm.engine.randomness import derive, generator
from lqm.graphs.graph import rows, stacked
from lqm.graphs.matrices import Matrix
from lqm.graphs.problem import GraphProblem
from lqm.methods.batch import Batch, class_chunks
from lqm.methods.targets import RealGroup
from lqm.utils.limits import require_room, working_memory
from lqm.utils.stored_arrays import LazyArray

# Real nodes whose embeddings are held at once, and what each number of them takes at most, as measured.
_CHUNK, _BYTES = 32_768, 40


class RealNodes:
    """The propagated nodes of all classes: all of them, or a few drawn for each encoder.

    Args:
        problem: has the nodes.
        size: how many of each class; 0 for all.
        width: of their embeddings.
    """

    def __init__(self, problem: GraphProblem, size: int, width: int = 1) -> None:
        self._problem, self._size, self._width = problem, size, width
        self._chunks = class_chunks(
            [self._nodes(label) for label in range(len(problem.counts))], self._at_once()
        )
        self._whole: list[Batch] | None = None
        # The classes are compared together, however many chunks the real nodes come in.
        self.class_groups = [range(len(problem.counts))]

    def draws(self, n: int) -> torch.Generator:
        """The generator of what a distance draws under encoder n."""
        return generator(self._problem.seed, "distance", n)

    def groups(self, n: int, draws: torch.Generator) -> Iterator[RealGroup]:
        """The nodes of all classes, several classes at once."""
        yield RealGroup(self.class_groups[0], (), self._batches(n))

    def _batches(self, n: int) -> Iterator[Batch]:
        if self._size:
            chosen = np.random.Generator(np.random.SFC64(derive(self._problem.seed, "batch", n)))
            return (self._batch(chunk, chosen) for chunk in self._chunks)
        if any(isinstance(part, LazyArray) for part in self._problem.real.propagated):
            return (self._batch(chunk) for chunk in self._chunks)
        if self._whole is None:
            self._whole = [self._batch(chunk) for chunk in self._chunks]
        return iter(self._whole)

    def _at_once(self) -> int:
        """Nodes of several classes that are encoded at once, fewer if a limit of memory was chosen.

        Distances that need more than the means or quantiles may draw, and would draw anew for each part.
        """
        room, each = working_memory(), _BYTES * self._width
        if room is None or self._problem.sketch:
            return _CHUNK
        separable = hasattr(self._problem.distance, "needs")
        sizes = [self._nodes(label) for label in range(len(self._problem.counts))]
        least = max(sizes) if separable else min(_CHUNK, sum(sizes))
        require_room(least * each, "give a smaller real_batch or width")
        return min(_CHUNK, room // each) if separable else _CHUNK

    def _nodes(self, label: int) -> int:
        size = self._problem.real.sizes[label]
        return min(size, self._size) if self._size else size

    def _batch(self, classes: list[int], draws: np.random.Generator | None = None) -> Batch:
        parts = []
        for label in classes:
            propagated, size = self._problem.real.propagated[label], self._nodes(label)
            if draws is not None and size < propagated.shape[0]:
                drawn = draws.choice(propagated.shape[0], size, replace=False, shuffle=False)
                propagated = rows(propagated, torch.from_numpy(drawn))
            parts.append(propagated)
        matrix = Matrix(stacked(parts), self._problem.device)
        return Batch(matrix, classes, [self._nodes(label) for label in classes])
