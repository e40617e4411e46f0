"""Training a network on pictures, as the field does, and looking at pictures through it."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.images.augment import augment, draw
from lqm.images.networks import Network
from lqm.images.sources import ImageSource, Pictures

_CHUNK = 256


def train(
    network: Network,
    pictures: Pictures,
    source: ImageSource,
    *,
    epochs: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    batch: int,
    draws: torch.Generator,
) -> None:
    """Train for epochs 0 to `epochs`, at a tenth of the rate after epoch `epochs // 2 + 1`.

    The lower rate comes with a new optimiser, which has no momentum yet. Each batch is augmented by one
    operation, with own numbers for each picture.
    """

    def optimizer(rate: float) -> torch.optim.SGD:
        return torch.optim.SGD(network.parameters(), rate, momentum=momentum, weight_decay=weight_decay)

    network.train()
    device = _device(network)
    current = optimizer(learning_rate)
    for epoch in range(epochs + 1):
        for chosen in torch.randperm(len(pictures.labels), generator=draws).split(batch):
            record = draw(source.augmentation, draws, rows=len(chosen))
            images = source.normalised(pictures.images[chosen].to(device))
            loss = F.cross_entropy(network(augment(images, record)), pictures.labels[chosen].to(device))
            current.zero_grad()
            loss.backward()
            current.step()
        if epoch == epochs // 2 + 1:
            current = optimizer(learning_rate * 0.1)


@torch.no_grad()
def latent_features(network: Network, images: Tensor, source: ImageSource) -> Tensor:
    """What a trained network finds in pictures as they are stored, [N, F], on the network's device."""
    network.eval()
    return torch.cat([network.embed(part) for part in _parts(network, images, source)])


@torch.no_grad()
def accuracy(network: Network, source: ImageSource) -> float:
    """Share of the test pictures that a network names rightly."""
    network.eval()
    found = [network(part).argmax(dim=1) for part in _parts(network, source.test.images, source)]
    return float((torch.cat(found).cpu() == source.test.labels).double().mean())


def _parts(network: Network, images: Tensor, source: ImageSource) -> Iterator[Tensor]:
    """Normalised pictures, a few at a time, on the network's device."""
    for part in images.split(_CHUNK):
        yield source.normalised(part.to(_device(network)))


def _device(network: Network) -> torch.device:
    return next(network.parameters()).device
