"""What the field's loops have whose network trains on S between the updates: DC to DSAC, and CAFE."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.ratios.plain_images import PlainImages, plain_epoch
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.methods.cafe import CAFESettings
from lqm.images.methods.gradients import DCSettings
from lqm.images.networks import Network
from lqm.images.sources import pick


class PlainTrained(PlainImages):
    """A fresh network a step, and its training on the synthetic images."""

    settings: DCSettings | CAFESettings

    def freeze_norms(self, network: Network, n: int) -> None:
        """Batch norms see 16 real images of each class, and keep their statistics for an update."""
        norms = [layer for layer in network.modules() if isinstance(layer, nn.BatchNorm2d)]
        if norms:
            draws = generator(self.seed, "norm images", n)
            network.train()
            network(torch.cat([pick(images, 16, draws) for images in self.by_class]))
            for norm in norms:
                norm.eval()

    def pair(self, label: int, draws: torch.Generator) -> tuple[Tensor, Tensor]:
        """Real and synthetic images of a class, under the same transform if there is one."""
        real, synthetic = pick(self.by_class[label], self.settings.real_batch, draws), self.images[label]
        if not self.settings.augmented:
            return real, synthetic
        drawn = draw(self.source.augmentation, draws)
        return augment(real, drawn), augment(synthetic, drawn)

    def epochs(self, network: Network, n: int, count: int) -> Iterator[None]:
        """Train the network on the synthetic images, with a pause after each epoch."""
        draws = generator(self.seed, "inner training", n)
        dataset = TensorDataset(self.images.detach().flatten(0, 1), self.labels())
        optimizer = torch.optim.SGD(network.parameters(), lr=self.settings.network_rate)
        for _ in range(count):
            plain_epoch(
                network,
                optimizer,
                dataset,
                batch=self.settings.train_batch,
                augmentation=self.source.augmentation if self.settings.augmented else (),
                draws=draws,
            )
            yield
