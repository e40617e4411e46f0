"""A network of the user's own: any module that is called as PyG's are."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork
from lqm.utils.errors import ConfigError
from lqm.utils.specs import probe, run_and_record

NetworkMaker = Callable[[int, int], nn.Module]


class Wrapped(GraphNetwork):
    """A module of the user's own as a network.

    It is called as `module(x, edge_index)`: features [N, F], and edges [2, E], both directions of each and no
    self-loops. Its latent features are the input of its last layer: of the modules inside it that learn and
    give [N, classes], the one that is called last; where there is none, they are the logits.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def embed(self, inputs: Inputs) -> Tensor:
        """The input of the module's last layer, [N, width]."""
        layers = [m for m in self.module.modules() if m is not self.module and list(m.parameters())]
        logits: Tensor
        logits, calls, outputs = run_and_record(lambda: self.forward(inputs), layers)
        for layer, fed in reversed(calls):
            if isinstance(fed, Tensor) and getattr(outputs[layer], "shape", None) == logits.shape:
                return fed
        return logits

    def forward(self, inputs: Inputs) -> Tensor:
        """The module's own logits, [N, classes]."""
        logits: Tensor = self.module(inputs.dense, inputs.edge_index)
        return logits


def wrap(name: str, module: nn.Module, features: int, classes: int) -> Wrapped:
    """A module as a network; ConfigError if it fails, or does not give a logit for each class."""
    if not list(module.parameters()):
        raise ConfigError(f"{name} has no weights to learn; it should have some")
    wrapped = Wrapped(module)
    nodes = torch.linspace(-1, 1, 2 * features).view(2, features)
    probe(
        name,
        wrapped,
        lambda device: wrapped(Inputs(nodes, None, device)),
        classes,
        records="nodes",
        data=f"2 nodes of {features} features",
        right="it should take x [N, F] and edge_index [2, E], and give logits [N, classes]",
    )
    return wrapped
