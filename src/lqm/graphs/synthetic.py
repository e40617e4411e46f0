"""S in S* = argmin D(phi(T), phi(S)), of graphs: nodes without edges, whose features are learned."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine.randomness import generator
from lqm.graphs.population import chosen_features
from lqm.graphs.problem import GraphProblem
from lqm.methods.batch import Batch
from lqm.methods.synthetic import Learnable, Synthetic

Init = Literal["random", "noise", "herding", "k-centre", "k-means"]
LengthsOf = Literal["real", "free"]


class SyntheticNodes(Synthetic):
    """Nodes of all classes, learned by Adam.

    Encoders with ReLU see directions only, so nothing in the objective holds a node's length, and updates
    make it longer. Lengths that are `real` are those of the real nodes: what is learned is a direction, of
    length 1 at first, and a node x is that direction with the mean length l_c of its class's propagated
    features:

        x = l_c * u / ||u||

    Lengths that are `free` are left to Adam, as in the papers' code.

    Args:
        problem: what they stand for.
        init: the real nodes, or the noise, that they are at first.
        learning_rate: Adam's.
        lengths: what holds the lengths of their features.
        restarts: whether each step begins with a fresh Adam.
    """

    def __init__(
        self, problem: GraphProblem, init: Init, learning_rate: float, lengths: LengthsOf, *, restarts: bool
    ) -> None:
        self._problem, self._init, self.counts = problem, init, problem.counts
        self._lengths = _real_lengths(problem) if lengths == "real" else None
        self._features = Learnable(
            "features",
            self._first,
            lambda features: torch.optim.Adam([features], lr=learning_rate),
            problem.device,
            moments="adam.{moment}",
            restarts=restarts,
            shape=(sum(problem.counts), problem.real.width),
        )
        self.learnables = [self._features]

    @property
    def features(self) -> Tensor:
        """The features of all nodes, [M, F], class after class."""
        learned = self._features.tensor
        return learned if self._lengths is None else F.normalize(learned) * self._lengths

    def batch(self, classes: Sequence[int], transforms: Sequence[Any] = ()) -> Batch:
        """The nodes of all classes, which are always compared together."""
        return Batch(self.features, classes, self.counts)

    def result(self) -> CondensedNodes:
        """The nodes of all classes."""
        return self._problem.condensed(self.features.detach().cpu().clone())

    def _first(self) -> Tensor:
        """Real nodes of each class as they are, or Glorot's noise; no class looks at another."""
        problem = self._problem
        if self._init == "noise":
            first = torch.cat([self._noise(label) for label in range(len(problem.counts))])
        else:
            first = chosen_features(self._init, problem.real, problem.counts, problem.seed, features="own")
        return first if self._lengths is None else F.normalize(first)

    def _noise(self, label: int) -> Tensor:
        problem, width = self._problem, self._problem.real.width
        count, name = problem.counts[label], problem.class_names[label]
        draws = generator(problem.seed, f"noise of {name}")
        return math.sqrt(6 / (count + width)) * (2 * torch.rand(count, width, generator=draws) - 1)


def _real_lengths(problem: GraphProblem) -> Tensor:
    """The mean length of the propagated features of each node's class, [M, 1]."""
    means = torch.stack([lengths.mean() for lengths in problem.real.lengths])
    return means.repeat_interleave(torch.tensor(problem.counts))[:, None].to(problem.device)
