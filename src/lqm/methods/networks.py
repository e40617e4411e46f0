"""What every network on images or rows has: latent features, and a linear layer that names the class."""

import hashlib
from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from lqm.utils.errors import ConfigError
from lqm.utils.specs import factory_name, probe, run_and_record


class Network(nn.Module):
    """A network in two parts, made of the shape of a record and the number of classes.

    Attributes:
        title: its name in tables, with options of its constructor in braces.
        features: records, images [B, C, H, W] or rows [B, F], to latent features [B, width].
        classifier: latent features to logits, [B, classes].
    """

    title: ClassVar[str] = "network"
    features: nn.Module
    classifier: nn.Module

    def embed(self, records: Tensor) -> Tensor:
        """Latent features: what the classifier is fed, [B, width]."""
        features: Tensor = self.features(records)
        return features

    def forward(self, records: Tensor) -> Tensor:
        """Logits, [B, classes]."""
        logits: Tensor = self.classifier(self.embed(records))
        return logits


class Wrapped(Network):
    """A module of the user's own as a network: its latent features are the input of its last linear layer.

    That layer, `last`, is registered once, where the module has it, so that it is saved and trained once.
    """

    features: "_InputOfLast"

    def __init__(self, module: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.features = _InputOfLast(module, last)
        self.__dict__["classifier"] = last

    def forward(self, records: Tensor) -> Tensor:
        """The module's own logits, [B, classes]."""
        logits: Tensor = self.features.module(records)
        return logits


class _InputOfLast(nn.Module):
    """Runs a module, and gives what its last linear layer was fed."""

    def __init__(self, module: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.module = module
        self.__dict__["last"] = last

    def forward(self, records: Tensor) -> Tensor:
        """Records to latent features [B, F], with gradients."""
        _, calls, _ = run_and_record(lambda: self.module(records), [self.__dict__["last"]])
        features: Tensor = calls[-1][1]
        return features


def wrap_module(
    name: str,
    module: nn.Module,
    shape: tuple[int, ...],
    classes: int,
    *,
    records: str,
    data: str,
    expected: str,
) -> Wrapped:
    """A module of the user's own as a network.

    Args:
        name: of the module, for messages.
        module: that ends in a linear layer.
        shape: of a record.
        classes: how many there are.
        records: what it takes, in one word.
        data: the same with their shape.
        expected: what the module should do, as a sentence.

    Raises:
        ConfigError: when it fails, has no linear layer, or changes what that gives.
    """
    calls: list[tuple[nn.Module, Tensor]] = []

    def run(device: torch.device) -> object:
        inputs = torch.linspace(-1, 1, 2 * torch.Size(shape).numel(), device=device).view(2, *shape)
        linears = [m for m in module.modules() if isinstance(m, nn.Linear)]
        output, calls[:], _ = run_and_record(lambda: module(inputs), linears)
        return output

    output = probe(name, module, run, classes, records=records, data=data, right=expected)
    if not calls:
        raise ConfigError(f"{name} has no linear layer; {expected}")
    last, features = calls[-1]
    with torch.no_grad():
        logits = last(features)
    if logits.shape != output.shape or not torch.allclose(logits, output, rtol=1e-4, atol=1e-5):
        raise ConfigError(f"{name} changes what its last linear layer gives; {expected}")
    return Wrapped(module, last)


def own_network(request: Any, *, banked: bool) -> Callable[..., nn.Module] | None:
    """The function of a request that makes networks of the user's own, if it has one.

    Raises:
        ConfigError: when a sketch or experts take part (`banked`), which need a network with a name.
    """
    own: Callable[..., nn.Module] | None = (
        request.network if not isinstance(request.network, str | None) else None
    )
    if own is not None and banked:
        raise ConfigError(
            "a sketch and experts need a network that has a name, such as convnet; "
            "leave the network of your own out"
        )
    return own


def own_record(own: Callable[..., nn.Module], made: nn.Module) -> str:
    """What a manifest says of a user's network: its name, and a hash of the layers of one that was made."""
    return f"{factory_name(own)} {hashlib.sha256(repr(made).encode()).hexdigest()[:12]}"
