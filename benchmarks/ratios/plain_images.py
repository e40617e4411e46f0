"""What all of the field's loops over images have in common."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from lqm.condensed.mosaic import compose
from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, draw
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Network, make_network
from lqm.images.sources import ImageSource, pick


class PlainImages:
    """The images, their optimiser and the real data, which is normalised once and kept.

    Args:
        source: the real images.
        per_class: synthetic images of each class.
        seed: of all draws, which are those of our methods.
        settings: of our method; only an init by random images or noise is known here.
    """

    def __init__(self, source: ImageSource, per_class: int, seed: int, settings: MatchingSettings) -> None:
        self.source, self.per_class, self.seed, self.settings = source, per_class, seed, settings
        self.mosaic = getattr(settings, "mosaic", 1)
        self.by_class = [source.normalised(images[:]) for images in source.by_class]
        self.classes = len(self.by_class)
        self.low, self.high = (source.normalised(torch.full((1, 1), value)) for value in (0.0, 1.0))
        self.images = self._init().requires_grad_()
        self.optimizer = torch.optim.SGD([self.images], lr=settings.learning_rate, momentum=settings.momentum)

    def _init(self) -> Tensor:
        draws, records = generator(self.seed, "start"), self.per_class * self.mosaic**2
        if self.settings.init == "noise":
            return torch.randn(self.classes, self.per_class, *self.source.shape, generator=draws)
        chosen = [compose(pick(images, records, draws), self.mosaic) for images in self.by_class]
        return torch.stack(chosen)

    def fresh_network(self, purpose: str, index: int) -> Network:
        """A network with random weights."""
        with seeded(self.seed, purpose, index):
            return make_network(self.settings.network, self.source.shape, self.classes)

    def labels(self) -> Tensor:
        """The class of each synthetic image."""
        return torch.arange(self.classes).repeat_interleave(self.per_class)

    def descend(self, loss: Tensor) -> None:
        """One update of all images; the field does not clip them, but ours are."""
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            self.images.clamp_(self.low, self.high)


def plain_epoch(
    network: Network,
    optimizer: torch.optim.Optimizer,
    dataset: TensorDataset,
    *,
    batch: int,
    augmentation: Sequence[str],
    draws: torch.Generator,
) -> None:
    """Train a network on all images once, which a loader collects one by one."""
    network.train()
    # The loader's own shuffling would draw more numbers than ours does.
    order = torch.randperm(len(dataset), generator=draws).tolist()
    for images, labels in DataLoader(dataset, batch_size=batch, sampler=order):
        shown = augment(images, draw(augmentation, draws, rows=len(labels))) if augmentation else images
        loss = F.cross_entropy(network(shown), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
