"""A network of the user's own: any module whose last layer is linear."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from lqm.images.networks.network import Network
from lqm.utils.errors import ConfigError
from lqm.utils.specs import probe, run_and_record

NetworkMaker = Callable[[tuple[int, int, int], int], nn.Module]

_EXPECTED = (
    "a module should take images [B, C, H, W] and end in a linear layer that gives logits [B, classes], or "
    "be a subclass of lqm.images.networks.Network with features and classifier"
)


class Wrapped(Network):
    """A module as a network: its latent features are the input of its last linear layer.

    That layer, `last`, is registered once, where the module has it, so that it is saved and trained once.
    """

    features: "_InputOfLast"

    def __init__(self, module: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.features = _InputOfLast(module, last)
        self.__dict__["classifier"] = last

    def forward(self, images: Tensor) -> Tensor:
        """The module's own logits, [B, classes]."""
        logits: Tensor = self.features.module(images)
        return logits


class _InputOfLast(nn.Module):
    """Runs a module, and gives what its last linear layer was fed."""

    def __init__(self, module: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.__dict__["last"] = last

    def forward(self, images: Tensor) -> Tensor:
        """Images [B, C, H, W] to latent features [B, F], with gradients."""
        _, calls, _ = run_and_record(lambda: self.module(images), [self.__dict__["last"]])
        features: Tensor = calls[-1][1]
        return features


def wrap(name: str, module: nn.Module, shape: tuple[int, int, int], classes: int) -> Wrapped:
    """A module as a network."""
    calls: list[tuple[nn.Module, Tensor]] = []

    def run(device: torch.device) -> object:
        images = torch.linspace(-1, 1, 2 * torch.Size(shape).numel(), device=device).view(2, *shape)
        linears = [m for m in module.modules() if isinstance(m, nn.Linear)]
        output, calls[:], _ = run_and_record(lambda: module(images), linears)
        return output

    data = f"images of shape {shape}"
    output = probe(name, module, run, classes, records="images", data=data, right=_EXPECTED)
    if not calls:
        raise ConfigError(f"{name} has no linear layer; {_EXPECTED}")
    last, features = calls[-1]
    with torch.no_grad():
        logits = last(features)
    if logits.shape != output.shape or not torch.allclose(logits, output, rtol=1e-4, atol=1e-5):
        raise ConfigError(f"{name} changes what its last linear layer gives; {_EXPECTED}")
    return Wrapped(module, last)
