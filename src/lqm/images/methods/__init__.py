"""Methods that condense images: one file each, any distance with any of those that match."""

from typing import Any, Protocol

import torch

from lqm.engine import Method
from lqm.images.methods.coreset import Herding, KCentre, KMeans, Random
from lqm.images.methods.datadam import DataDAM
from lqm.images.methods.dm import DM
from lqm.images.methods.idm import IDM
from lqm.images.networks import NetworkMaker
from lqm.images.sources import ImageSource


class ImageMethod(Protocol):
    """A class of methods.

    Attributes:
        Settings: a frozen dataclass with the defaults of its paper, among them `steps`.
        matches: whether it compares latent features, and so needs a distance.
    """

    Settings: type[Any]
    matches: bool

    def __call__(
        self,
        source: ImageSource,
        distance: Any,
        per_class: int,
        seed: int,
        settings: Any,
        device: torch.device,
        network: NetworkMaker | None = None,
    ) -> Method:
        """A method that is ready for its first step."""
        ...


METHODS: dict[str, ImageMethod] = {
    "dm": DM,
    "datadam": DataDAM,
    "idm": IDM,
    "random": Random,
    "herding": Herding,
    "k-centre": KCentre,
    "k-means": KMeans,
}

__all__ = ["METHODS", "ImageMethod"]
