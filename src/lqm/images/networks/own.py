"""A network of the user's own: any module whose last layer is linear."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from lqm.images.networks.network import Network
from lqm.utils.errors import ConfigError
from lqm.utils.sentences import first_line

NetworkMaker = Callable[[tuple[int, int, int], int], nn.Module]

_EXPECTED = (
    "a module should end in a linear layer that gives the logits [B, classes], or be a subclass of "
    "lqm.images.networks.Network with features and classifier"
)


class Wrapped(Network):
    """A module as a network: its latent features are the input of its last linear layer.

    That layer is registered once, where the module has it, so that it is saved and trained once.

    Args:
        module: images [B, C, H, W] to logits [B, classes].
        last: the linear layer of the module which gives the logits.
    """

    features: "_InputOfLast"

    def __init__(self, module: nn.Module, last: nn.Linear) -> None:
        super().__init__()
        self.features = _InputOfLast(module, last)
        self.__dict__["classifier"] = last

    def forward(self, images: Tensor) -> Tensor:
        """The module's own logits, [B, classes]."""
        logits: Tensor = self.features.module(images)
        return logits


class _InputOfLast(nn.Module):
    """Runs a module, and gives what its last linear layer was fed."""

    def __init__(self, module: nn.Module, last: nn.Linear) -> None:
        super().__init__()
        self.module = module
        self.__dict__["last"] = last

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] to latent features [B, F], with gradients."""
        return _run_and_listen(self.module, images, [self.__dict__["last"]])[1][-1][1]


def factory_name(factory: NetworkMaker) -> str:
    """The name of a factory in records, such as `own:my_network`."""
    return f"own:{getattr(factory, '__qualname__', type(factory).__qualname__)}"


def make_own(factory: NetworkMaker, shape: tuple[int, int, int], classes: int) -> Network:
    """The network that a factory makes, wrapped if it is not one of ours by class.

    Raises:
        ConfigError: when the factory or its module fails, or the module does not end in a linear layer.
    """
    name = factory_name(factory)
    if isinstance(factory, nn.Module):
        raise ConfigError(
            f"the network {name} is a module; give a function of shape and classes that makes a fresh one"
        )
    try:
        module = factory(shape, classes)
    except Exception as error:
        raise ConfigError(
            f"the network {name} can't be made for images of shape {shape} and {classes} classes "
            f"({first_line(error)}); it should be a function of shape and classes that returns a module"
        ) from error
    if isinstance(module, Network):
        return module
    if not isinstance(module, nn.Module):
        raise ConfigError(
            f"the network {name} is made as a {type(module).__name__}; it should be made as a torch module"
        )
    return Wrapped(module, _last_linear(module, name, shape, classes))


@torch.no_grad()
def _last_linear(module: nn.Module, name: str, shape: tuple[int, int, int], classes: int) -> nn.Linear:
    """The linear layer which gives the module's output, found and proved by running it on two images."""
    linears = [m for m in module.modules() if isinstance(m, nn.Linear)]
    device = next((p.device for p in module.parameters()), torch.device("cpu"))
    probe = torch.linspace(-1, 1, 2 * torch.Size(shape).numel(), device=device).view(2, *shape)
    modes = [(m, m.training) for m in module.modules()]
    module.eval()
    try:
        output, calls = _run_and_listen(module, probe, linears)
    except Exception as error:
        raise ConfigError(
            f"the network {name} fails on images of shape {shape} ({first_line(error)}); "
            "it should take images [B, C, H, W]"
        ) from error
    finally:
        for part, training in modes:
            part.training = training
    if not isinstance(output, Tensor) or output.shape != (2, classes):
        given = list(output.shape) if isinstance(output, Tensor) else f"a {type(output).__name__}"
        raise ConfigError(f"the network {name} gives {given} for 2 images of {classes} classes; {_EXPECTED}")
    if not calls:
        raise ConfigError(f"the network {name} has no linear layer; {_EXPECTED}")
    last, features = calls[-1]
    logits = last(features)
    if logits.shape != output.shape or not torch.allclose(logits, output, rtol=1e-4, atol=1e-5):
        raise ConfigError(f"the network {name} changes what its last linear layer gives; {_EXPECTED}")
    return last


def _run_and_listen(
    module: nn.Module, images: Tensor, linears: list[nn.Linear]
) -> tuple[Any, list[tuple[nn.Linear, Tensor]]]:
    """The module's output, and each call of these linear layers with its input, in order of execution."""
    calls: list[tuple[nn.Linear, Tensor]] = []
    handles = [
        linear.register_forward_pre_hook(lambda layer, inputs: calls.append((layer, inputs[0])))
        for linear in linears
    ]
    try:
        return module(images), calls
    finally:
        for handle in handles:
            handle.remove()
