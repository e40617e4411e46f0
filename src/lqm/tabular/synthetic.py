"""S in S* = argmin D(phi(T), phi(S)), of tables: rows whose standardised features are learned."""

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from lqm.condensed import CondensedTable
from lqm.engine.randomness import generator
from lqm.methods.batch import Batch
from lqm.methods.synthetic import Learnable, Synthetic
from lqm.tabular.choosing import chosen_rows
from lqm.tabular.problem import TableProblem

Init = Literal["random", "noise", "herding", "k-centre", "k-means"]


class SyntheticRows(Synthetic):
    """Rows of all classes, learned by Adam.

    After each update every feature is brought back into the range that it has in the training rows, so that
    no age is negative and a constant feature stays as it is.

    Args:
        problem: what they stand for.
        init: the real rows, or the noise, that they are at first.
        learning_rate: Adam's, of standardised features.
    """

    def __init__(self, problem: TableProblem, init: Init, learning_rate: float) -> None:
        self._problem, self._init, self.counts = problem, init, problem.counts
        real = problem.source.standardised_train.features
        self._low, self._high = (bound.to(problem.device) for bound in (real.amin(dim=0), real.amax(dim=0)))
        self._rows = Learnable(
            "rows",
            self._first,
            lambda rows: torch.optim.Adam([rows], lr=learning_rate),
            problem.device,
            moments="adam.{moment}",
            project=lambda rows: rows.clamp_(self._low, self._high),
            shape=(sum(problem.counts), *problem.source.shape),
        )
        self.learnables = [self._rows]

    def batch(self, classes: Sequence[int], transforms: Sequence[Any] = ()) -> Batch:
        """The rows of all classes, which are always compared together."""
        return Batch(self._rows.tensor, classes, self.counts)

    def result(self) -> CondensedTable:
        """The rows of all classes."""
        return self._problem.condensed(self._rows.tensor.detach().cpu().clone())

    def _first(self) -> Tensor:
        problem = self._problem
        if self._init != "noise":
            return chosen_rows(self._init, problem.source, problem.counts, problem.seed)
        noise = torch.randn(
            sum(problem.counts), *problem.source.shape, generator=generator(problem.seed, "noise")
        )
        return noise.clamp(self._low.cpu(), self._high.cpu())
