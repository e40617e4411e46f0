"""phi in S* = argmin D(phi(T), phi(S)), for tables: networks that turn rows into latent features."""

from collections.abc import Callable
from itertools import pairwise
from typing import ClassVar, Literal

from torch import nn

from lqm.methods.networks import Network, Wrapped, wrap_module
from lqm.utils.errors import ConfigError
from lqm.utils.specs import NetworkTable

NetworkMaker = Callable[[int, int], nn.Module]

_EXPECTED = (
    "a module should take rows [B, F] and end in a linear layer that gives logits [B, classes], or be a "
    "subclass of lqm.tabular.networks.Network with features and classifier"
)


Activation = Literal["relu", "leaky-relu", "tanh"]
_ACTIVATIONS: dict[Activation, Callable[[], nn.Module]] = {
    "relu": nn.ReLU,
    "leaky-relu": nn.LeakyReLU,
    "tanh": nn.Tanh,
}


class MLP(Network):
    """`depth` hidden layers of `width` units, each followed by an activation."""

    title: ClassVar[str] = "MLP-{depth} of width {width}"

    def __init__(
        self,
        features: int,
        classes: int,
        width: int = 128,
        depth: int = 2,
        activation: Activation = "relu",
    ) -> None:
        super().__init__()
        if depth < 1 or width < 1:
            raise ConfigError(
                f"an MLP of depth {depth} and width {width} has no hidden layer; give at least 1"
            )
        layers: list[nn.Module] = []
        for inputs, outputs in pairwise([features, *[width] * depth]):
            layers += [nn.Linear(inputs, outputs), _ACTIVATIONS[activation]()]
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(width, classes)


class Logistic(Network):
    """Logistic regression: the features as they are, and a linear layer that scikit-learn fits."""

    title: ClassVar[str] = "logistic regression"

    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.features = nn.Identity()
        self.classifier = nn.Linear(features, classes)


def wrap(name: str, module: nn.Module, features: int, classes: int) -> Wrapped:
    """A module as a network."""
    data = f"rows of {features} features"
    return wrap_module(name, module, (features,), classes, records="rows", data=data, expected=_EXPECTED)


NETWORKS = NetworkTable[Network, int](
    {"mlp": MLP, "logistic": Logistic}, Network, wrap, inputs="features", data="rows of {} features"
)


def check_encoder(spec: str) -> str:
    """A spec in canonical form; ValueError where the network has no features of its own to match."""
    checked = NETWORKS.check(spec)
    if checked == "logistic":
        raise ConfigError("logistic regression has no latent features to match; use mlp")
    return checked
