"""What a distance is: two halves, of which only the second is differentiated."""

from typing import Annotated, Literal, Protocol

import torch
from pydantic import Field
from torch import Tensor

Target = tuple[Tensor, ...]
Weight = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Needs = Literal["mean", "quantiles", "mean and shape", "records"]


class Distance(Protocol):
    """A distance between two samples of latent features.

    The leading dimensions `...` are a batch of classes, each compared with its own counterpart.
    Every loss is in squared units of the features (twice the features, four times the loss), so that
    the learning rate of a base method carries over from one distance to another.

    An attribute `needs` tells what a distance needs of the real side: the "mean", the "quantiles", or the
    "mean and shape" (the quantiles up to a constant) of each feature, all of which a sketch has, or, if
    there is no such attribute, the "records".
    """

    @property
    def name(self) -> str:
        """The name by which tables and manifests call it."""
        ...

    def target(self, real: Tensor, k: int, generator: torch.Generator | None = None) -> Target:
        """Keep what the real side leaves behind for k synthetic records; it needs no gradient.

        Shapes: real [..., n, F]. Random directions or frequencies, if any, come from `generator`.
        """
        ...

    def loss(self, target: Target, synthetic: Tensor) -> Tensor:
        """Compare with the synthetic side, differentiably.

        Shapes: synthetic [..., k, F]; result [...], one loss a class.
        """
        ...
