"""Training a network on images, as the field does, and its features and predictions afterwards."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.images.augment import augment, draw
from lqm.images.networks import Embedding, Encoder, Logits, Network, Readout, encoder_factory
from lqm.images.sources import Images, ImageSource

# Pixels of a set that is kept normalised, and images that are normalised at a time.
_RESIDENT, _NORMALISED = 2**24, 1024


def train(
    network: Network,
    labelled: Images,
    source: ImageSource,
    *,
    epochs: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    batch: int,
    draws: torch.Generator,
    compute: Compute | None = None,
) -> None:
    """Train for epochs 0 to `epochs`, at a tenth of the rate after epoch `epochs // 2 + 1`.

    The lower rate comes with a new optimiser, which has no momentum yet. Each batch is augmented by one
    operation, with parameters of its own for each image.
    """

    def optimizer(rate: float) -> torch.optim.SGD:
        return torch.optim.SGD(network.parameters(), rate, momentum=momentum, weight_decay=weight_decay)

    network.train()
    device = _device(network)
    encoder = _encoder(network, Logits, compute)
    labels = (labelled.labels if labelled.soft_labels is None else labelled.soft_labels).to(device)
    # A small set is normalised once and for all.
    small = labelled.images.numel() <= _RESIDENT
    resident = source.normalised(labelled.images.to(device)) if small else None
    current = optimizer(learning_rate)
    for epoch in range(epochs + 1):
        for chosen in torch.randperm(len(labels), generator=draws).split(batch):
            drawn = draw(source.augmentation, draws, rows=len(chosen))
            images = (
                source.normalised(labelled.images[chosen].to(device))
                if resident is None
                else resident[chosen.to(device)]
            )
            (logits,) = encoder.readouts(augment(images, drawn))
            loss = F.cross_entropy(logits, labels[chosen.to(device)])
            current.zero_grad()
            loss.backward()
            current.step()
        if epoch == epochs // 2 + 1:
            current = optimizer(learning_rate * 0.1)


def latent_features(
    network: Network, images: Tensor, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """Latent features of images as they are stored, [N, F], on the network's device."""
    return _read_out(network, Embedding, images, source, compute)


def predict(network: Network, source: ImageSource, compute: Compute | None = None) -> Tensor:
    """The class that a network predicts for each test image, [N]."""
    return logits_of(network, source.test.images, source, compute).argmax(dim=1).cpu()


def logits_of(
    network: Network, images: Tensor, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """Logits of images as they are stored, [N, classes], on the network's device."""
    return _read_out(network, Logits, images, source, compute)


def _read_out(
    network: Network, readout: Readout, images: Tensor, source: ImageSource, compute: Compute | None
) -> Tensor:
    encoder = _encoder(network.eval(), readout, compute)
    parts = (source.normalised(part.to(_device(network))) for part in images.split(_NORMALISED))
    return torch.cat([encoder.encode(part)[0] for part in parts])


def _encoder(network: Network, readout: Readout, compute: Compute | None) -> Encoder:
    return encoder_factory(repr(network), readout, compute or Compute()).of(network)


def _device(network: Network) -> torch.device:
    return next(network.parameters()).device
