"""phi in S* = argmin D(phi(T), phi(S)): networks that turn images into latent features.

A new network is one file beside this one and one line in the table below; its options are the arguments of
its constructor that have a default.
"""

from lqm.images.networks.alexnet import AlexNet
from lqm.images.networks.convnet import ConvNet
from lqm.images.networks.lenet import LeNet
from lqm.images.networks.mlp import MLP
from lqm.images.networks.network import Network
from lqm.images.networks.own import NetworkMaker, factory_name, make_own
from lqm.images.networks.resnet import ResNet18
from lqm.images.networks.sight import (
    Embedding,
    Logits,
    Look,
    Sight,
    Sights,
    by_batch,
    numbers_found,
    sights,
)
from lqm.images.networks.vgg import VGG11
from lqm.utils.specs import canonical, described, read_spec

NETWORKS: dict[str, type[Network]] = {
    "convnet": ConvNet,
    "mlp": MLP,
    "lenet": LeNet,
    "alexnet": AlexNet,
    "vgg11": VGG11,
    "resnet18": ResNet18,
}

__all__ = [
    "NETWORKS",
    "ConvNet",
    "Embedding",
    "Logits",
    "Look",
    "Network",
    "NetworkMaker",
    "Sight",
    "Sights",
    "by_batch",
    "check_spec",
    "describe",
    "factory_name",
    "make_network",
    "numbers_found",
    "sights",
]


def make_network(spec: str | NetworkMaker, shape: tuple[int, int, int], classes: int) -> Network:
    """The network that `spec` names or makes, with fresh weights.

    Args:
        spec: such as `convnet`, `convnet:width=64:depth=2` or `vgg11:norm=batch`; or a function of shape and
            classes that returns a module.
        shape: channels, height and width of an image.
        classes: number of classes.

    Raises:
        ConfigError: when there is no such network, or it can't be made for this shape.
    """
    if not isinstance(spec, str):
        return make_own(spec, shape, classes)
    name, options = read_spec(spec, NETWORKS)
    return NETWORKS[name](shape, classes, **options)


def check_spec(spec: str) -> str:
    """The spec in canonical form: the options that were given, in the order of the network's constructor.

    Raises:
        ConfigError: when there is no such network, option or value.

    Example:
        >>> check_spec("convnet:depth=2:width=064")
        'convnet:width=64:depth=2'
    """
    return canonical(spec, NETWORKS)


def describe(spec: str) -> str:
    """A network's name for tables, with what differs from its default.

    Raises:
        ConfigError: when there is no such network, option or value.

    Example:
        >>> describe("convnet:norm=batch:pooling=none")
        'ConvNet-3 of width 128, batch norm, no pooling'
    """
    return described(spec, NETWORKS)
