"""Methods that condense graphs: one file each, any distance with any of those that match."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch

from lqm.engine import Method
from lqm.graphs.methods.cat import PUMA, CaT
from lqm.graphs.methods.coreset import Herding, KCentre, KMeans, Random
from lqm.graphs.population import Population


class GraphMethod(Protocol):
    """A class of methods.

    Attributes:
        Settings: a frozen dataclass with the defaults of its paper, among them `steps` and `hops`.
        matches: whether it compares latent features, and so needs a distance.
    """

    Settings: type[Any]
    matches: bool

    def __call__(
        self,
        real: Population,
        distance: Any,
        counts: Sequence[int],
        seed: int,
        settings: Any,
        device: torch.device,
    ) -> Method:
        """A method that is ready for its first step."""
        ...


METHODS: dict[str, GraphMethod] = {
    "cat": CaT,
    "puma": PUMA,
    "random": Random,
    "herding": Herding,
    "k-centre": KCentre,
    "k-means": KMeans,
}

__all__ = ["METHODS", "GraphMethod"]
