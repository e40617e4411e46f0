"""The graph convolutional network, and the same without message passing."""

from typing import ClassVar

from torch import Tensor, nn

from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork, glorot, layer_sizes, zeros


class GCN(GraphNetwork):
    """`depth` graph convolutions with ReLU between them (Kipf & Welling 2017); the last gives the logits.

    Formula: H' = ReLU(A_hat H W + b), without b if `bias` is false
    """

    title: ClassVar[str] = "GCN-{depth} of width {width}"
    message_passing: ClassVar[bool] = True

    def __init__(
        self, features: int, classes: int, width: int = 256, depth: int = 2, bias: bool = True
    ) -> None:
        super().__init__()
        self.reach = depth - 1 if self.message_passing else 0
        sizes = layer_sizes(type(self).__name__.lower(), features, classes, width, depth)
        self.weights = nn.ParameterList(glorot(*size) for size in sizes)
        self.biases = nn.ParameterList(zeros(outputs) for _, outputs in sizes if bias)

    def embed(self, inputs: Inputs) -> Tensor:
        """The last hidden layer, [N, width]."""
        hidden: Tensor | None = None
        for number in range(len(self.weights) - 1):
            hidden = self._layer(number, inputs, hidden).relu_()
        assert hidden is not None
        return hidden

    def forward(self, inputs: Inputs) -> Tensor:
        """Logits, [N, classes]."""
        return self._layer(len(self.weights) - 1, inputs, self.embed(inputs))

    def _layer(self, number: int, inputs: Inputs, hidden: Tensor | None) -> Tensor:
        inputs = inputs if self.message_passing else inputs.without_edges()
        convolved = inputs.convolve(self.weights[number], hidden)
        return convolved.add_(self.biases[number]) if len(self.biases) else convolved


class MLP(GCN):
    """Layers with ReLU between them, applied to each node alone; the weights are those of a GCN."""

    title: ClassVar[str] = "MLP-{depth} of width {width}"
    message_passing: ClassVar[bool] = False
