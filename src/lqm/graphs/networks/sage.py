"""GraphSAGE with the mean over neighbours; PyG's SAGEConv takes 1.9 to 24 times as long to train (CPU)."""

from typing import ClassVar

from torch import Tensor, nn

from lqm.graphs.networks.gcn import MLP
from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import glorot


class SAGE(MLP):
    """Each layer has separate weights for a node and for the mean of its neighbours (Hamilton et al. 2017).

    Formula: H' = ReLU(H W + D^-1 A H W' + b)
    """

    title: ClassVar[str] = "SAGE-{depth} of width {width}"

    def __init__(self, features: int, classes: int, width: int = 256, depth: int = 2) -> None:
        super().__init__(features, classes, width, depth)
        self.reach = depth - 1
        self.neighbours = nn.ParameterList(glorot(*weight.shape) for weight in self.weights)

    def _layer(self, number: int, inputs: Inputs, hidden: Tensor | None) -> Tensor:
        own = super()._layer(number, inputs, hidden)
        return own if inputs.mean is None else own + inputs.convolve_mean(self.neighbours[number], hidden)
