"""T in S* = argmin D(phi(T), phi(S)), of tables: the real rows of a step."""

from collections.abc import Iterator

import torch

from lqm.engine.randomness import generator
from lqm.methods.batch import Batch, class_chunks
from lqm.methods.targets import RealGroup
from lqm.tabular.problem import TableProblem

# Real rows whose latent features are held at once.
_CHUNK = 32_768


class RealRows:
    """The standardised rows of all classes: all of them, or a few drawn for each encoder.

    Args:
        problem: has the rows.
        size: how many of each class, drawn without replacement; 0 for all.
    """

    def __init__(self, problem: TableProblem, size: int) -> None:
        self._problem, self._size = problem, size
        sizes = [len(rows) for rows in problem.source.by_class]
        self._chunks = class_chunks([min(count, size or count) for count in sizes], _CHUNK)
        # The classes are compared together, however many chunks the real rows come in.
        self.class_groups = [range(len(sizes))]

    def draws(self, n: int) -> torch.Generator:
        """The generator of what is drawn under encoder n."""
        return generator(self._problem.seed, "batch", n)

    def groups(self, n: int, draws: torch.Generator) -> Iterator[RealGroup]:
        """The rows of all classes, several classes at once."""
        yield RealGroup(self.class_groups[0], (), (self._batch(chunk, draws) for chunk in self._chunks))

    def _batch(self, classes: list[int], draws: torch.Generator) -> Batch:
        parts = []
        for label in classes:
            rows = self._problem.source.by_class[label]
            if 0 < self._size < len(rows):
                rows = rows[torch.randperm(len(rows), generator=draws)[: self._size]]
            parts.append(rows)
        return Batch(torch.cat(parts).to(self._problem.device), classes, [len(rows) for rows in parts])
