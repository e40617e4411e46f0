"""What is to be condensed, of graphs."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.graphs.population import Population
from lqm.methods.problem import Problem


@dataclass(frozen=True, eq=False, kw_only=True)
class GraphProblem(Problem):
    """Nodes to condense.

    Attributes:
        real: the training nodes by class, as they are and propagated.
    """

    real: Population

    def condensed(self, features: Tensor) -> CondensedNodes:
        """The set of these nodes, [sum of counts, F], class after class; no edges."""
        labels = torch.arange(len(self.counts)).repeat_interleave(torch.tensor(self.counts))
        return CondensedNodes(features, labels, self.class_names, {})
