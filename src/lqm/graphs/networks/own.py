"""A network of the user's own: any module that is called as PyG's are."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lqm.graphs.networks.inputs import Inputs
from lqm.graphs.networks.network import GraphNetwork
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import reason

NetworkMaker = Callable[[int, int], nn.Module]


class Wrapped(GraphNetwork):
    """A module of the user's own as a network.

    It is called with the features, [N, F], and the edges, [2, E], both directions of each and no self-loops:
    `module(x, edge_index)`. Its latent features are what its last layer is fed: of the modules inside it that
    learn and give [N, classes], the one that begins last; where there is none, they are the logits.
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def embed(self, inputs: Inputs) -> Tensor:
        """What the module's last layer is fed, [N, width]."""
        begun: list[tuple[nn.Module, Any]] = []
        given: dict[nn.Module, Any] = {}

        def begin(layer: nn.Module, fed: tuple[Any, ...]) -> None:
            begun.append((layer, fed[0] if fed else None))

        def end(layer: nn.Module, fed: tuple[Any, ...], output: Any) -> None:
            given[layer] = output

        layers = [m for m in self.module.modules() if m is not self.module and list(m.parameters())]
        handles = [layer.register_forward_pre_hook(begin) for layer in layers]
        handles += [layer.register_forward_hook(end) for layer in layers]
        try:
            logits = self.forward(inputs)
        finally:
            for handle in handles:
                handle.remove()
        for layer, fed in reversed(begun):
            if isinstance(fed, Tensor) and getattr(given[layer], "shape", None) == logits.shape:
                return fed
        return logits

    def forward(self, inputs: Inputs) -> Tensor:
        """The module's own logits, [N, classes]."""
        logits: Tensor = self.module(inputs.dense, inputs.links)
        return logits


def make_own(factory: NetworkMaker, features: int, classes: int) -> GraphNetwork:
    """The network that a factory makes, wrapped if it is not one of ours by class.

    Raises:
        ConfigError: when the factory or its module fails, or does not give a logit for each class.
    """
    name = f"own:{getattr(factory, '__qualname__', type(factory).__qualname__)}"
    if isinstance(factory, nn.Module):
        raise ConfigError(
            f"the network {name} is a module; give a function of features and classes that makes a fresh one"
        )
    try:
        module = factory(features, classes)
    except Exception as error:
        raise ConfigError(
            f"the network {name} can't be made for {features} features and {classes} classes "
            f"({reason(error)}); it should be a function of these two numbers that returns a module"
        ) from error
    if isinstance(module, GraphNetwork):
        return module
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"the network {name} is made as a {type(module).__name__}; it should be made as a torch module"
        )
    if not list(module.parameters()):
        raise ConfigError(f"the network {name} has no weights to learn; it should have some")
    wrapped = Wrapped(module)
    _probe(wrapped, name, features, classes)
    return wrapped


@torch.no_grad()
def _probe(network: Wrapped, name: str, features: int, classes: int) -> None:
    """Run a network once on two nodes without edges, to refuse what can't judge before long work."""
    modes = [(part, part.training) for part in network.modules()]
    network.eval()
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    probe = torch.linspace(-1, 1, 2 * features).view(2, features)
    try:
        output = network(Inputs(probe, None, device))
    except Exception as error:
        raise ConfigError(
            f"the network {name} fails on 2 nodes of {features} features ({reason(error)}); "
            "it should take x [N, F] and edge_index [2, E]"
        ) from error
    finally:
        for part, training in modes:
            part.training = training
    if not isinstance(output, Tensor) or output.shape != (2, classes):
        given = list(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
        raise ConfigError(
            f"the network {name} gives {given} for 2 nodes of {classes} classes; it should give logits "
            f"[N, {classes}]"
        )
