"""What is to be condensed, of tables."""

from dataclasses import dataclass

import torch
from torch import Tensor

from lqm.condensed import CondensedTable
from lqm.engine.randomness import seeded
from lqm.methods.networks import Network
from lqm.methods.problem import Problem
from lqm.tabular.networks import NETWORKS, NetworkMaker
from lqm.tabular.sources import TableSource


@dataclass(frozen=True, eq=False, kw_only=True)
class TableProblem(Problem):
    """Rows to condense, and the networks by which.

    Attributes:
        source: the real rows.
        network: a function of the user's own that makes networks, in place of the one in the settings.
    """

    source: TableSource
    network: NetworkMaker | None = None

    def condensed(self, rows: Tensor) -> CondensedTable:
        """The set of these standardised rows, [sum of counts, F], class after class."""
        return CondensedTable(
            rows,
            torch.arange(len(self.counts)).repeat_interleave(torch.tensor(self.counts)),
            self.class_names,
            {"feature_names": list(self.source.feature_names)},
            standardisation=self.source.standardisation,
        )

    def fresh_network(self, spec: str, purpose: str, index: int) -> Network:
        """A network with weights of its own for each (purpose, index)."""
        with seeded(self.seed, purpose, index):
            made = NETWORKS.make(self.network or spec, *self.source.shape, len(self.class_names))
        return made.to(self.device)
