"""The graph attention network; PyG's GATConv takes 1.6 to 3.0 times as long to train on graphs (CPU)."""

from typing import Any, ClassVar

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lqm.graphs.matrices import sparse_csr
from lqm.graphs.networks.inputs import Attention, Inputs
from lqm.graphs.networks.network import GraphNetwork, glorot, layer_sizes, zeros
from lqm.utils.errors import ConfigError

_SLOPE = 0.2


class GAT(GraphNetwork):
    """Neighbours are averaged by learned weights (Velickovic et al. 2018); ELU between the layers.

    Formula: h'_i = sum over j in N(i) and i of alpha_ij W h_j + b, of each head, with
        alpha_i = softmax over j of LeakyReLU(a . W h_i + a' . W h_j)

    `width` counts the units of all heads of a hidden layer; the last layer gives the logits and has one head.
    """

    title: ClassVar[str] = "GAT-{depth} of {heads} heads and width {width}"

    def __init__(self, features: int, classes: int, width: int = 64, depth: int = 2, heads: int = 8) -> None:
        super().__init__()
        sizes = layer_sizes("gat", features, classes, width, depth)
        if width % heads:
            raise ConfigError(f"width of gat is {width}; it should be a multiple of its heads, {heads}")
        self.reach = depth
        self.layers = nn.ModuleList(_Layer(*size, heads) for size in sizes[:-1])
        self.last = _Layer(*sizes[-1], 1)

    def embed(self, inputs: Inputs) -> Tensor:
        """The last hidden layer, [N, width]."""
        hidden: Tensor | None = None
        for layer in self.layers:
            hidden = F.elu(layer(inputs, hidden))
        assert hidden is not None
        return hidden

    def forward(self, inputs: Inputs) -> Tensor:
        """Logits, [N, classes]."""
        logits: Tensor = self.last(inputs, self.embed(inputs))
        return logits


class _Layer(nn.Module):
    """Attention of several heads, whose results are concatenated."""

    def __init__(self, inputs: int, outputs: int, heads: int) -> None:
        super().__init__()
        self.weight, self.bias = glorot(inputs, outputs), zeros(outputs)
        self.source, self.target = (glorot(heads, outputs // heads) for _ in range(2))

    def forward(self, inputs: Inputs, hidden: Tensor | None) -> Tensor:
        """Features of nodes, or hidden ones [N, inputs], to [N, outputs]."""
        mapped = inputs.without_edges().convolve(self.weight, hidden)
        if inputs.adjacency is None:
            return mapped + self.bias
        edges, heads = inputs.attention, mapped.view(len(mapped), *self.source.shape)
        from_source, to_target = ((heads * side).sum(dim=-1) for side in (self.source, self.target))
        scores = F.leaky_relu(
            from_source.index_select(0, edges.sources) + to_target.index_select(0, edges.targets), _SLOPE
        )
        shares = _softmax(scores, edges)
        parts = [
            _Weighted.apply(shares[:, head], heads[:, head], edges)  # type: ignore[no-untyped-call]
            for head in range(heads.shape[1])
        ]
        return torch.cat(parts, dim=1) + self.bias


def _softmax(scores: Tensor, edges: Attention) -> Tensor:
    """Softmax over the edges of each target, by head. Shapes: scores and result [E + N, heads]."""
    largest = torch.segment_reduce(scores.detach(), "max", offsets=edges.starts, axis=0)
    exponents = (scores - largest.index_select(0, edges.targets)).exp()
    totals = torch.segment_reduce(exponents, "sum", offsets=edges.starts, axis=0)
    return exponents / totals.index_select(0, edges.targets)


class _Weighted(torch.autograd.Function):
    """Sum over the edges of each target of weight times source: a sparse product with weights that learn.

    Shapes: weights [E + N], values [N, width]; result [N, width].
    """

    @staticmethod
    def forward(context: Any, weights: Tensor, values: Tensor, edges: Attention) -> Tensor:
        context.save_for_backward(weights, values)
        context.edges = edges
        return _sparse(weights, edges) @ values.contiguous()

    @staticmethod
    def backward(context: Any, above: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, values = context.saved_tensors
        edges: Attention = context.edges
        ends = above.index_select(0, edges.targets), values.index_select(0, edges.sources)
        by_weight = torch.linalg.vecdot(*ends)
        return by_weight, _sparse(weights.index_select(0, edges.reverse), edges) @ above.contiguous(), None


def _sparse(weights: Tensor, edges: Attention) -> Tensor:
    """The weights as a matrix; edges go both ways, so its transpose has the same sparsity."""
    nodes = len(edges.starts) - 1
    return sparse_csr(edges.starts, edges.sources, weights.contiguous(), (nodes, nodes))
