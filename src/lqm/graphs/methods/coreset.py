"""Coresets: real nodes, chosen by what they hear from their neighbours."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine import Metrics
from lqm.graphs.methods.result import as_condensed
from lqm.graphs.methods.settings import Hops
from lqm.graphs.population import Population, chosen_features


@dataclass(frozen=True, config={"extra": "forbid"})
class CoresetSettings:
    """Nothing is learned: the one step does nothing.

    Attributes:
        hops: how often the nodes hear their neighbours before the rule looks at them.
    """

    steps: Literal[1] = 1
    hops: Hops = 1


class Coreset:
    """Nodes of each class by one rule, with features of their own and without edges."""

    Settings: ClassVar[type] = CoresetSettings
    matches = False
    rule: ClassVar[str]

    def __init__(
        self,
        real: Population,
        distance: object,
        counts: Sequence[int],
        seed: int,
        settings: CoresetSettings,
        device: torch.device,
    ) -> None:
        self._real, self._counts, self._seed = real, counts, seed

    def step(self, i: int) -> Metrics:
        """Nothing is learned."""
        return {}

    def state(self) -> dict[str, Tensor]:
        """Nothing is kept."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Nothing is kept."""

    def result(self) -> CondensedNodes:
        """The chosen nodes."""
        chosen = chosen_features(self.rule, self._real, self._counts, self._seed)
        return as_condensed(chosen, self._counts, self._real.class_names)


class Random(Coreset):
    """Each node as likely as another: what every other method should beat."""

    rule = "random"


class Herding(Coreset):
    """The nodes whose mean stays nearest to that of the class."""

    rule = "herding"


class KCentre(Coreset):
    """The nodes that leave no other far from all of them."""

    rule = "k-centre"


class KMeans(Coreset):
    """The nodes nearest to the centroids of k-means."""

    rule = "k-means"
