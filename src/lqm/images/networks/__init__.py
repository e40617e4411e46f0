"""phi in S* = argmin D(phi(T), phi(S)): networks that turn images into latent features.

A new network is one file beside this one and one line in the table below; its options are the arguments of
its constructor that have a default.
"""

from lqm.images.networks.alexnet import AlexNet
from lqm.images.networks.convnet import ConvNet
from lqm.images.networks.encoder import (
    Embedding,
    Encoder,
    EncoderFactory,
    Logits,
    Readout,
    count_activations,
    encoder_factory,
    uses_batch_statistics,
)
from lqm.images.networks.lenet import LeNet
from lqm.images.networks.mlp import MLP
from lqm.images.networks.own import NetworkMaker, wrap
from lqm.images.networks.resnet import ResNet18
from lqm.images.networks.vgg import VGG11
from lqm.methods.networks import Network
from lqm.utils.specs import NetworkTable, factory_name

NETWORKS = NetworkTable[Network, tuple[int, int, int]](
    {
        "convnet": ConvNet,
        "mlp": MLP,
        "lenet": LeNet,
        "alexnet": AlexNet,
        "vgg11": VGG11,
        "resnet18": ResNet18,
    },
    Network,
    wrap,
    inputs="shape",
    data="images of shape {}",
)
make_network, check_spec, describe = NETWORKS.make, NETWORKS.check, NETWORKS.describe

__all__ = [
    "NETWORKS",
    "ConvNet",
    "Embedding",
    "Encoder",
    "EncoderFactory",
    "Logits",
    "Network",
    "NetworkMaker",
    "Readout",
    "check_spec",
    "count_activations",
    "describe",
    "encoder_factory",
    "factory_name",
    "make_network",
    "uses_batch_statistics",
]
