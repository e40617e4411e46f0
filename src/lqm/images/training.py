"""Training a network on images, as the field does, and its features and predictions afterwards."""

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.images.augment import augment, cutmix, draw, draw_several
from lqm.images.networks import Embedding, Encoder, Logits, Network, Readout, encoder_factory
from lqm.images.sources import Images, ImageSource
from lqm.utils.stored_arrays import Records

# Pixels of a set that is kept normalised, and images that are normalised at a time.
Schedule = Literal["half", "fifths"]

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
    schedule: Schedule = "half",
    several: bool = False,
    mixed: float = 0.0,
    compute: Compute | None = None,
    after_epoch: Callable[[int], None] = lambda epochs: None,
) -> None:
    """Train a network on images, which are augmented with parameters of each image's own.

    Args:
        network: that is trained, in place.
        labelled: what it learns from; by soft labels where there are any.
        source: how images are normalised and augmented.
        epochs: by `half`, epochs 0 to `epochs`, at a tenth of the rate after epoch `epochs // 2 + 1`, which
            comes with a new optimiser that has no momentum yet; by `fifths`, so many epochs, at a fifth of
            the rate after two thirds and after five sixths of them.
        learning_rate: of SGD at first.
        momentum: of SGD.
        weight_decay: of SGD.
        batch: images in a step.
        draws: gives order and augmentation.
        schedule: of the rate.
        several: whether an image undergoes several operations, in place of one.
        mixed: the probability that a batch is mixed by CutMix.
        compute: how the network is run.
        after_epoch: is told how many epochs are over.
    """

    def optimizer(rate: float) -> torch.optim.SGD:
        return torch.optim.SGD(network.parameters(), rate, momentum=momentum, weight_decay=weight_decay)

    device = _device(network)
    encoder = _encoder(network, Logits, compute)
    labels = (labelled.labels if labelled.soft_labels is None else labelled.soft_labels).to(device)
    # A small set is normalised once and for all.
    small = labelled.images.numel() <= _RESIDENT
    resident = source.normalised(labelled.images[:].to(device)) if small else None
    operations = [name for name in source.augmentation if not (mixed and name == "cutout")]
    current = optimizer(learning_rate)
    for epoch in range(epochs + (schedule == "half")):
        network.train()
        if schedule == "fifths":
            current.param_groups[0]["lr"] = learning_rate * fifths(epoch, epochs)
        for chosen in torch.randperm(len(labels), generator=draws).split(batch):
            wanted = labels[chosen.to(device)]
            drawn = (
                draw_several(operations, draws, rows=len(chosen))
                if several
                else [draw(source.augmentation, draws, rows=len(chosen))]
            )
            images = (
                source.normalised(labelled.images[chosen].to(device))
                if resident is None
                else resident[chosen.to(device)]
            )
            images, wanted = cutmix(augment(images, *drawn), wanted, len(source.class_names), mixed, draws)
            (logits,) = encoder.readouts(images)
            loss = F.cross_entropy(logits, wanted)
            current.zero_grad()
            loss.backward()
            current.step()
        if schedule == "half" and epoch == epochs // 2 + 1:
            current = optimizer(learning_rate * 0.1)
        after_epoch(epoch + 1)


def fifths(epoch: int, epochs: int) -> float:
    """What is left of the rate in an epoch: a fifth after two thirds, and again after five sixths."""
    return float(0.2 ** ((3 * epoch >= 2 * epochs) + (6 * epoch >= 5 * epochs)))


def latent_features(
    network: Network, images: Records, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """Latent features of images as they are stored, [N, F], on the network's device."""
    return _read_out(network, Embedding, images, source, compute)


def predict(network: Network, source: ImageSource, compute: Compute | None = None) -> Tensor:
    """The class that a network predicts for each test image, [N]."""
    return logits_of(network, source.test.images, source, compute).argmax(dim=1).cpu()


def logits_of(
    network: Network, images: Records, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """Logits of images as they are stored, [N, classes], on the network's device."""
    return _read_out(network, Logits, images, source, compute)


def _read_out(
    network: Network, readout: Readout, images: Records, source: ImageSource, compute: Compute | None
) -> Tensor:
    encoder = _encoder(network.eval(), readout, compute)
    parts = (source.normalised(part.to(_device(network))) for part in images.split(_NORMALISED))
    return torch.cat([encoder.encode(part)[0] for part in parts])


def _encoder(network: Network, readout: Readout, compute: Compute | None) -> Encoder:
    return encoder_factory(repr(network), readout, compute or Compute()).of(network)


def _device(network: Network) -> torch.device:
    return next(network.parameters()).device
