"""Predict, then propagate; PyG's APPNP takes 3.9 to 8.6 times as long to train on graphs (CPU)."""

from typing import ClassVar

from torch import Tensor

from lqm.graphs.networks.gcn import MLP
from lqm.graphs.networks.inputs import Inputs

_TELEPORT = 0.1


class APPNP(MLP):
    """A multilayer perceptron whose logits are then propagated `hops` times (Klicpera et al. 2019).

    Formula: Z_0 = MLP(X), Z_(k+1) = (1 - alpha) A_hat Z_k + alpha Z_0, with alpha = 0.1
    """

    title: ClassVar[str] = "APPNP-{depth} of width {width}"

    def __init__(
        self,
        features: int,
        classes: int,
        width: int = 256,
        depth: int = 2,
        hops: int = 10,
        bias: bool = True,
    ) -> None:
        super().__init__(features, classes, width, depth, bias)
        self.reach = self.hops = hops

    def forward(self, inputs: Inputs) -> Tensor:
        """Logits, [N, classes]."""
        own = super().forward(inputs)
        if inputs.a_hat is None:
            return own
        logits = own
        for _ in range(self.hops):
            logits = (1 - _TELEPORT) * (inputs.a_hat @ logits) + _TELEPORT * own
        return logits
