"""A graph as the input of a network: constant matrices on a device, each made when it is first needed."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.sparse import csr_array, diags_array, eye_array, issparse
from torch import Tensor

from lqm.graphs.graph import Features, dense, rows
from lqm.graphs.matrices import Matrix, as_torch
from lqm.graphs.propagation import normalised_adjacency
from lqm.utils.stored_arrays import LazyArray

# How many values of a dense matrix multiply in the time of one of a sparse matrix, measured on a CPU.
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
    """Features of nodes, [N, F], dense or sparse, and the operators of message passing.

    `adjacency` is a csr_array [N, N] as `Graph` has it; None for nodes without edges, where message passing
    is the identity and costs nothing.
    """

    def __init__(
        self, values: Features, adjacency: Any, device: torch.device, *, _features: Matrix | None = None
    ) -> None:
        self.values, self.device = _faster_form(values), device
        self.adjacency: Any = adjacency if adjacency is not None and adjacency.nnz else None
        self.features = _features or Matrix(self.values, device)
        self._products: dict[tuple[str, int], Matrix | None] = {}
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
    def a_hat(self) -> Matrix | None:
        """A_hat = D^-1/2 (A + I) D^-1/2, [N, N]; None without edges, where it is the identity."""
        return None if self.adjacency is None else Matrix(self._operators["a_hat"], self.device)

    @cached_property
    def mean(self) -> Matrix | None:
        """D^-1 A, the mean over neighbours, [N, N]; None without edges, where it is 0."""
        return None if self.adjacency is None else Matrix(self._operators["mean"], self.device)

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges, from the first row to the second, both directions of each, [2, E]."""
        if self.adjacency is None:
            return torch.zeros(2, 0, dtype=torch.int64, device=self.device)
        targets = np.repeat(np.arange(self.nodes), np.diff(self.adjacency.indptr))
        pairs = np.stack([self.adjacency.indices.astype(np.int64), targets])
        return torch.from_numpy(pairs).to(self.device)

    @cached_property
    def attention(self) -> Attention:
        """The edges with self-loops, laid out for learned weights."""
        loops = eye_array(self.nodes, dtype=np.float32)
        joined = csr_array(loops if self.adjacency is None else self.adjacency + loops)
        joined.sort_indices()
        targets = np.repeat(np.arange(self.nodes), np.diff(joined.indptr))
        reverse = np.lexsort((targets, joined.indices))
        pieces = (joined.indices, targets, joined.indptr, reverse)
        return Attention(*(torch.from_numpy(piece.astype(np.int64)).to(self.device) for piece in pieces))

    def without_edges(self) -> "Inputs":
        """The same nodes without message passing (PUMA, Liu et al. 2023: training without edges)."""
        return self if self.adjacency is None else self._edgeless

    def around(self, nodes: Tensor, reach: int) -> tuple["Inputs", Tensor]:
        """The part of the graph that some nodes depend on, if it is small, and their numbers in it.

        The part keeps the normalisation of the whole graph, so the logits of `nodes` are the same if they
        need hidden features of nodes up to `reach` steps away; those of others are not computed.
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

    def convolve(self, weight: Tensor, hidden: Tensor | None = None, hops: int = 1) -> Tensor:
        """A_hat^hops H W, where H are hidden features, or those of the nodes.

        Shapes: weight [F, width], hidden [N, F]; result [N, width].
        """
        return self._multiply("a_hat", self.a_hat, weight, hidden, hops)

    def convolve_mean(self, weight: Tensor, hidden: Tensor | None = None) -> Tensor:
        """D^-1 A H W, of the same shapes; 0 for a node without neighbours."""
        if self.mean is None:
            return weight.new_zeros(self.nodes, weight.shape[1])
        return self._multiply("mean", self.mean, weight, hidden, 1)

    def propagate(self, hidden: Tensor, hops: int = 1) -> Tensor:
        """A_hat^hops H. Shapes: hidden and result [N, width]."""
        for _ in range(hops if self.a_hat is not None else 0):
            hidden = self.a_hat @ hidden  # type: ignore[operator]
        return hidden

    def _multiply(
        self, name: str, operator: Matrix | None, weight: Tensor, hidden: Tensor | None, hops: int
    ) -> Tensor:
        if operator is not None and hidden is None:
            propagated = self._propagated_features(name, hops)
            if propagated is not None:
                return propagated @ weight
        product = self.features @ weight if hidden is None else hidden @ weight
        for _ in range(hops if operator is not None else 0):
            product = operator @ product  # type: ignore[operator]
        return product

    def _propagated_features(self, name: str, hops: int) -> Matrix | None:
        """The operator's power times the features, if one product with it is cheaper than with its factors.

        It is constant, so it is formed once for all training steps.
        """
        if (name, hops) not in self._products:
            values = self._part_product(name, hops) if self._whole else self._product(name, hops)
            self._products[name, hops] = None if values is None else Matrix(values, self.device)
        return self._products[name, hops]

    def _product(self, name: str, hops: int) -> Features | None:
        operator, values = self._operators[name], self.values
        separate = _work(values) + hops * operator.nnz
        for _ in range(hops):
            values = _product(operator, values)
            if _work(values) > separate:
                return None
        return values

    def _part_product(self, name: str, hops: int) -> Features:
        """The rows of a part in the product of the whole graph."""
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
        return {"a_hat": normalised_adjacency(self.adjacency), "mean": mean}

    @cached_property
    def _edgeless(self) -> "Inputs":
        return Inputs(self.values, None, self.device, _features=self.features)


def _work(values: Features) -> float:
    """How long a product with a matrix takes, in multiplications of a sparse one."""
    return float(values.nnz) if issparse(values) else values.numel() / _DENSE_SPEED


def _product(operator: Any, values: Features) -> Features:
    """A sparse operator times features, dense where that multiplies faster."""
    if issparse(values):
        return _faster_form(csr_array(operator @ values))
    return as_torch(operator, torch.device("cpu")) @ values


def _faster_form(values: Features) -> Features:
    """Features as they multiply faster, dense or sparse."""
    crowded = issparse(values) and values.nnz * _DENSE_SPEED > values.shape[0] * values.shape[1]
    return dense(values) if crowded or isinstance(values, LazyArray) else values
