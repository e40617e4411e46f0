"""A graph as networks see it: constant matrices on a device, each made when it is first needed, and kept."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, eye_array, issparse
from torch import Tensor

from lqm.graphs.graph import Features, dense, rows
from lqm.graphs.matrices import Matrix, as_torch
from lqm.graphs.propagation import normalised_adjacency

# How many numbers of a dense matrix multiply in the time of one of a sparse matrix, measured on a CPU.
_DENSE_SPEED = 8
# Cutting a part out of a graph pays if it has at most this share of the nodes.
_SMALL_PART = 0.25


class Attention(NamedTuple):
    """The edges with self-loops by target, as the rows of a sparse matrix.

    Attributes:
        sources: where the edges come from, [E + N]: the columns.
        targets: where they go, ascending, [E + N].
        starts: where the edges of each target begin, [N + 1].
        reverse: for each edge (j, i) the place of the edge (i, j), [E + N].
    """

    sources: Tensor
    targets: Tensor
    starts: Tensor
    reverse: Tensor


class Inputs:
    """Features of nodes, and what they hear from their neighbours.

    Args:
        values: what each node is described by, [N, F], dense or sparse.
        adjacency: csr_array [N, N] as `Graph` has it; None for nodes without edges, to whom message passing
            is the identity and costs nothing.
        device: where to multiply.

    Attributes:
        features: the values as a matrix, [N, F].
    """

    def __init__(
        self, values: Features, adjacency: Any, device: torch.device, *, _features: Matrix | None = None
    ) -> None:
        self.values, self.device = _quicker(values), device
        self.adjacency: Any = adjacency if adjacency is not None and adjacency.nnz else None
        self.features = _features or Matrix(self.values, device)
        self._kept: dict[tuple[str, int], Matrix | None] = {}
        self._whole: tuple[Inputs, Any] | None = None

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return self.features.shape[0]

    @cached_property
    def dense(self) -> Tensor:
        """The features as a tensor, [N, F]."""
        return dense(self.values).to(self.device)

    @cached_property
    def propagated(self) -> Matrix | None:
        """A_hat = D^-1/2 (A + I) D^-1/2, [N, N]; None without edges, where it is the identity."""
        return None if self.adjacency is None else Matrix(self._operators["heard"], self.device)

    @cached_property
    def mean(self) -> Matrix | None:
        """D^-1 A, the mean over neighbours, [N, N]; None without edges, where it is 0."""
        return None if self.adjacency is None else Matrix(self._operators["mean"], self.device)

    @cached_property
    def links(self) -> Tensor:
        """The edges, from the first row to the second, both directions of each, [2, E]."""
        if self.adjacency is None:
            return torch.zeros(2, 0, dtype=torch.int64, device=self.device)
        targets = np.repeat(np.arange(self.nodes), np.diff(self.adjacency.indptr))
        pairs = np.stack([self.adjacency.indices.astype(np.int64), targets])
        return torch.from_numpy(pairs).to(self.device)

    @cached_property
    def attention(self) -> Attention:
        """The edges with self-loops, laid out for weights of their own."""
        loops = eye_array(self.nodes, dtype=np.float32)
        joined = csr_array(loops if self.adjacency is None else self.adjacency + loops)
        joined.sort_indices()
        targets = np.repeat(np.arange(self.nodes), np.diff(joined.indptr))
        reverse = np.lexsort((targets, joined.indices))
        pieces = (joined.indices, targets, joined.indptr, reverse)
        return Attention(*(torch.from_numpy(piece.astype(np.int64)).to(self.device) for piece in pieces))

    def without_edges(self) -> "Inputs":
        """The same nodes without message passing (PUMA, Liu et al. 2023: training without edges)."""
        return self if self.adjacency is None else self._alone

    def around(self, nodes: Tensor, reach: int) -> tuple["Inputs", Tensor]:
        """The part of the graph that some nodes depend on, if it is small, and their numbers in it.

        Every node of the part hears with the weights of the whole graph. The logits of `nodes` are the same
        if they need hidden features of nodes up to `reach` steps away; those of others are not computed.
        """
        near = np.zeros(self.nodes, dtype=bool)
        near[nodes.cpu().numpy()] = True
        for _ in range(reach if self.adjacency is not None else 0):
            near |= (self.adjacency @ near.astype(np.float32)) > 0
        chosen = near.nonzero()[0]
        if len(chosen) > _SMALL_PART * self.nodes:
            return self, nodes
        part = Inputs(rows(self.values, torch.from_numpy(chosen)), None, self.device)
        if self.adjacency is not None:
            part.adjacency = csr_array(self.adjacency[chosen][:, chosen])
            part._whole = self, chosen
        return part, torch.from_numpy(np.searchsorted(chosen, nodes.cpu().numpy()))

    def hear(self, weight: Tensor, hidden: Tensor | None = None, hops: int = 1) -> Tensor:
        """A_hat^hops H W, where H are hidden features, or those of the nodes.

        Shapes: weight [F, width], hidden [N, F]; result [N, width].
        """
        return self._multiply("heard", self.propagated, weight, hidden, hops)

    def hear_mean(self, weight: Tensor, hidden: Tensor | None = None) -> Tensor:
        """D^-1 A H W, where H are hidden features, or those of the nodes; 0 for a node without neighbours.

        Shapes: weight [F, width], hidden [N, F]; result [N, width].
        """
        if self.mean is None:
            return weight.new_zeros(self.nodes, weight.shape[1])
        return self._multiply("mean", self.mean, weight, hidden, 1)

    def spread(self, hidden: Tensor, hops: int = 1) -> Tensor:
        """A_hat^hops H. Shapes: hidden and result [N, width]."""
        for _ in range(hops if self.propagated is not None else 0):
            hidden = self.propagated @ hidden  # type: ignore[operator]
        return hidden

    def _multiply(
        self, name: str, operator: Matrix | None, weight: Tensor, hidden: Tensor | None, hops: int
    ) -> Tensor:
        if operator is None:
            return self.features @ weight if hidden is None else hidden @ weight
        if hidden is None:
            before = self._propagated(name, hops)
            if before is not None:
                return before @ weight
        product = self.features @ weight if hidden is None else hidden @ weight
        for _ in range(hops):
            product = operator @ product
        return product

    def _propagated(self, name: str, hops: int) -> Matrix | None:
        """The operator's power times the features, if one product with it is cheaper than with its factors.

        As it is constant it is formed once, whatever number of steps it is multiplied in.
        """
        if (name, hops) not in self._kept:
            values = self._cut_product(name, hops) if self._whole else self._product(name, hops)
            self._kept[name, hops] = None if values is None else Matrix(values, self.device)
        return self._kept[name, hops]

    def _product(self, name: str, hops: int) -> Features | None:
        operator, values = self._operators[name], self.values
        apart = _work(values) + hops * operator.nnz
        for _ in range(hops):
            values = _product(operator, values)
            if _work(values) > apart:
                return None
        return values

    def _cut_product(self, name: str, hops: int) -> Features:
        """What the nodes of a part hear of all features of the whole graph."""
        assert self._whole is not None
        whole, chosen = self._whole
        operator, values = whole._operators[name], whole.values
        for _ in range(hops - 1):
            values = _product(operator, values)
        return _product(csr_array(operator[chosen]), values)

    @cached_property
    def _operators(self) -> dict[str, Any]:
        if self._whole:
            whole, chosen = self._whole
            return {
                name: csr_array(operator[chosen][:, chosen]) for name, operator in whole._operators.items()
            }
        degrees = np.maximum(np.diff(self.adjacency.indptr), 1)
        mean = csr_array(diags_array((1.0 / degrees).astype(np.float32)) @ self.adjacency)
        return {"heard": normalised_adjacency(self.adjacency), "mean": mean}

    @cached_property
    def _alone(self) -> "Inputs":
        return Inputs(self.values, None, self.device, _features=self.features)


def _work(values: Features) -> float:
    """How long a product with a matrix takes, in multiplications of a sparse one."""
    return float(values.nnz) if issparse(values) else values.numel() / _DENSE_SPEED


def _product(operator: Any, values: Features) -> Features:
    """A sparse operator times features, dense where that multiplies faster."""
    if issparse(values):
        return _quicker(csr_array(operator @ values))
    return as_torch(operator, torch.device("cpu")) @ values


def _quicker(values: Features) -> Features:
    """Features as they multiply faster, dense or sparse."""
    crowded = issparse(values) and values.nnz * _DENSE_SPEED > values.shape[0] * values.shape[1]
    return dense(values) if crowded else values
