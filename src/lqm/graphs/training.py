"""Training a network on the labelled nodes of a graph, and predicting the classes of others."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

import torch
import torch.nn.functional as F  # noqa: N812
from scipy.sparse import block_diag, csr_array
from torch import Tensor

from lqm.graphs.graph import stacked
from lqm.graphs.networks import GraphNetwork, Inputs
from lqm.utils.errors import DivergedError


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """A graph on a device, the numbers of its labelled nodes, [n], and their classes, [n]."""

    inputs: Inputs
    nodes: Tensor
    labels: Tensor


def together(sets: Sequence[TrainingSet]) -> TrainingSet:
    """Several graphs as one disconnected graph, on the device of the first; without edges if none has any."""
    inputs = [part.inputs for part in sets]
    adjacency = None
    if any(part.adjacency is not None for part in inputs):
        blocks = [csr_array((p.nodes,) * 2) if p.adjacency is None else p.adjacency for p in inputs]
        adjacency = csr_array(block_diag(blocks, format="csr", dtype="float32"))
    starts = torch.tensor([0, *(part.nodes for part in inputs)]).cumsum(0)
    return TrainingSet(
        Inputs(stacked([part.values for part in inputs]), adjacency, inputs[0].device),
        torch.cat([part.nodes + start for part, start in zip(sets, starts, strict=False)]),
        torch.cat([part.labels for part in sets]),
    )


def adam(network: GraphNetwork, learning_rate: float, weight_decay: float) -> torch.optim.Adam:
    """Adam with weight decay in the gradient (L2), fused: one pass over the weights a step."""
    return torch.optim.Adam(network.parameters(), learning_rate, weight_decay=weight_decay, fused=True)


def train(
    network: GraphNetwork,
    optimizer: torch.optim.Optimizer,
    data: TrainingSet,
    *,
    epochs: int,
    classes: int | None = None,
) -> float:
    """Train further by the mean cross entropy of all labelled nodes; returns the loss before the last step.

    Only the first `classes` logits take part, those of the classes seen so far; by default all.

    Raises:
        DivergedError: when that loss is not finite.
    """
    network.train()
    inputs, nodes = data.inputs, data.nodes
    if network.reach is not None:
        inputs, nodes = inputs.around(nodes, network.reach)
    everything = len(nodes) == inputs.nodes and bool((nodes.cpu() == torch.arange(len(nodes))).all())
    nodes, labels = nodes.to(inputs.device), data.labels.to(inputs.device)
    loss = torch.zeros(())
    for _ in range(epochs):
        logits = network(inputs)[:, :classes]
        loss = F.cross_entropy(logits if everything else logits.index_select(0, nodes), labels)
        optimizer.zero_grad()
        loss.backward()
        for weights in network.parameters():
            if weights.grad is None and weights.requires_grad:
                weights.grad = torch.zeros_like(weights)  # unused without edges; weight decay still applies
        optimizer.step()
    last = float(loss.detach())
    if not isfinite(last):
        raise DivergedError(
            f"the loss of a {type(network).__name__} in training is {last} after {epochs} epochs at rate "
            f"{optimizer.param_groups[0]['lr']:g}; lower the learning rate"
        )
    return last


@torch.no_grad()
def predict(network: GraphNetwork, inputs: Inputs, nodes: Tensor, *, among: Tensor | None = None) -> Tensor:
    """The classes of some nodes, by the largest logit of all classes or of those in `among`, [n]."""
    network.eval()
    logits: Tensor = network(inputs)[nodes.to(inputs.device)]
    if among is None:
        return logits.argmax(dim=1).cpu()
    return among.cpu()[logits[:, among.to(inputs.device)].argmax(dim=1).cpu()]


def accuracy(
    network: GraphNetwork, inputs: Inputs, nodes: Tensor, labels: Tensor, *, among: Tensor | None = None
) -> float:
    """Share of some nodes whose class, among all or those in `among`, is predicted correctly."""
    return float((predict(network, inputs, nodes, among=among) == labels.cpu()).double().mean())
