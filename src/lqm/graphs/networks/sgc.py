"""The simple graph convolution."""

from typing import ClassVar

from torch import Tensor

from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork, glorot, zeros


class SGC(GraphNetwork):
    """One linear layer on propagated features (Wu et al. 2019).

    Formula: A_hat^hops X W + b, without b if `bias` is false
    """

    title: ClassVar[str] = "SGC of {hops} hops"

    def __init__(self, features: int, classes: int, hops: int = 2, bias: bool = True) -> None:
        super().__init__()
        self.weight, self.hops = glorot(features, classes), hops
        self.bias = zeros(classes) if bias else None
        self.reach = 0

    def embed(self, inputs: Inputs) -> Tensor:
        """The input of the linear layer, A_hat^hops X, [N, F]: there is no hidden layer."""
        return inputs.propagate(inputs.dense, self.hops)

    def forward(self, inputs: Inputs) -> Tensor:
        """Logits, [N, classes]."""
        logits = inputs.convolve(self.weight, hops=self.hops)
        return logits if self.bias is None else logits + self.bias
