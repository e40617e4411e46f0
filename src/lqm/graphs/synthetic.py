"""S in S* = argmin D(phi(T), phi(S)), of graphs: nodes without edges, whose features are learned."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine.randomness import generator
from lqm.graphs.population import chosen_features
from lqm.graphs.problem import GraphProblem
from lqm.methods.batch import Batch
from lqm.methods.synthetic import Learnable, Synthetic

Init = Literal["random", "noise", "herding", "k-centre", "k-means"]


class SyntheticNodes(Synthetic):
    """Nodes of all classes, learned by Adam.

    Args:
        problem: what they stand for.
        init: the real nodes, or the noise, that they are at first.
        learning_rate: Adam's.
        restarts: whether each step begins with a fresh Adam.
    """

    def __init__(self, problem: GraphProblem, init: Init, learning_rate: float, *, restarts: bool) -> None:
        self._problem, self._init, self.counts = problem, init, problem.counts
        self._features = Learnable(
            "features",
            self._first,
            lambda features: torch.optim.Adam([features], lr=learning_rate),
            problem.device,
            moments="adam.{moment}",
            restarts=restarts,
        )
        self.learnables = [self._features]

    @property
    def features(self) -> Tensor:
        """The features of all nodes, [M, F], class after class."""
        return self._features.tensor

    def batch(self, classes: Sequence[int], transforms: Sequence[Any] = ()) -> Batch:
        """The nodes of all classes, which are always compared together."""
        return Batch(self.features, classes, self.counts)

    def result(self) -> CondensedNodes:
        """The nodes of all classes."""
        return self._problem.condensed(self.features.detach().cpu().clone())

    def _first(self) -> Tensor:
        """Real nodes of each class as they are, or Glorot's noise; no class looks at another."""
        problem = self._problem
        if self._init != "noise":
            return chosen_features(self._init, problem.real, problem.counts, problem.seed)
        parts = []
        for name, count in zip(problem.class_names, problem.counts, strict=True):
            bound = math.sqrt(6 / (count + problem.real.width))
            draws = generator(problem.seed, f"noise of {name}")
            parts.append(bound * (2 * torch.rand(count, problem.real.width, generator=draws) - 1))
        return torch.cat(parts)
