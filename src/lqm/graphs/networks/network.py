"""What every network on graphs has, and the initial weights of its layers."""

from itertools import pairwise
from typing import ClassVar

import torch
from torch import Tensor, nn

from lqm.graphs.networks.inputs import Inputs
from lqm.utils.errors import ConfigError


class GraphNetwork(nn.Module):
    """A network that classifies every node of a graph.

    Attributes:
        title: its name in tables, with options of its constructor in braces.
        reach: how many steps away the nodes are whose hidden features a node needs; None if unknown. The
            first layer's propagation of constant features does not count.
    """

    title: ClassVar[str] = "network"
    reach: int | None = None

    def embed(self, inputs: Inputs) -> Tensor:
        """The last hidden layer, [N, width]."""
        raise NotImplementedError

    def forward(self, inputs: Inputs) -> Tensor:
        """Logits, [N, classes]."""
        raise NotImplementedError


def glorot(inputs: int, outputs: int) -> nn.Parameter:
    """Initial weights, [inputs, outputs], within sqrt(6 / (inputs + outputs)) (Glorot & Bengio 2010)."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(inputs, outputs)))


def zeros(outputs: int) -> nn.Parameter:
    """An initial bias, [outputs]."""
    return nn.Parameter(torch.zeros(outputs))


def layer_sizes(name: str, features: int, classes: int, width: int, depth: int) -> list[tuple[int, int]]:
    """Inputs and outputs of each layer, all but the last of which are hidden."""
    if depth < 2:
        raise ConfigError(
            f"depth of {name} is {depth}, which leaves no hidden layer; it should be at least 2, or use sgc"
        )
    return list(pairwise([features, *[width] * (depth - 1), classes]))
