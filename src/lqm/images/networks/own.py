"""A network of the user's own: any module whose last layer is linear."""

from collections.abc import Callable

from torch import nn

from lqm.methods.networks import Wrapped, wrap_module

NetworkMaker = Callable[[tuple[int, int, int], int], nn.Module]

_EXPECTED = (
    "a module should take images [B, C, H, W] and end in a linear layer that gives logits [B, classes], or "
    "be a subclass of lqm.images.networks.Network with features and classifier"
)


def wrap(name: str, module: nn.Module, shape: tuple[int, int, int], classes: int) -> Wrapped:
    """A module as a network."""
    data = f"images of shape {shape}"
    return wrap_module(name, module, shape, classes, records="images", data=data, expected=_EXPECTED)
