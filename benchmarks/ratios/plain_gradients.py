"""The field's loops of gradient matching: DC, DSA, DCC and DSAC; and IDC."""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from benchmarks.ratios.plain_images import PlainImages
from benchmarks.ratios.plain_trained import PlainTrained
from lqm.condensed.mosaic import expand
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw_several
from lqm.images.experts import ExpertSettings, epoch
from lqm.images.methods.gradients import DCSettings
from lqm.images.methods.idc import IDCSettings
from lqm.images.networks import Network
from lqm.images.problem import ImageProblem
from lqm.images.sources import ImageSource, pick

Gradient = tuple[Tensor, ...]


def row_cosine(real: Gradient, synthetic: Gradient) -> Tensor:
    """1 - cosine, summed over the output rows of all weights; biases and norms play no part."""
    total = torch.zeros(())
    for one, other in zip(real, synthetic, strict=True):
        if one.ndim > 1:
            rows, own = one.flatten(1), other.flatten(1)
            total = total + (1 - (rows * own).sum(1) / (rows.norm(dim=1) * own.norm(dim=1) + 1e-6)).sum()
    return total


def gradient_of(network: Network, images: Tensor, labels: Tensor, *, live: bool = False) -> Gradient:
    """The gradient of the mean cross-entropy by all weights; a `live` one can be differentiated again."""
    loss = F.cross_entropy(network(images), labels)
    found = torch.autograd.grad(loss, list(network.parameters()), create_graph=live)
    return found if live else tuple(part.detach().clone() for part in found)


class PlainGradients(PlainTrained):
    """DC, DSA, DCC and DSAC: gradients of one class after another, or summed over all of them."""

    settings: DCSettings

    def step(self, i: int) -> float:
        """The updates under one network; gives the loss of the last, the mean over the classes."""
        network = self.fresh_network("network", i)
        updates, epochs = self.settings.loops(self.per_class)
        for update in range(updates):
            n = i * updates + update
            self.freeze_norms(network, n)
            summed = self.settings.sums(i, update)
            draws = generator(self.seed, "batch", n)
            loss = self._of_the_sum(network, draws) if summed else self._by_class(network, draws)
            self.descend(loss)
            if update < updates - 1:
                for _ in self.epochs(network, n, epochs):
                    pass
        return loss.item() / (1 if summed else self.classes)

    def _by_class(self, network: Network, draws: torch.Generator) -> Tensor:
        loss = torch.zeros(())
        for label in range(self.classes):
            real, synthetic = self.pair(label, draws)
            wanted = gradient_of(network, real, torch.full((len(real),), label))
            own = gradient_of(network, synthetic, torch.full((len(synthetic),), label), live=True)
            loss = loss + row_cosine(wanted, own)
        return loss

    def _of_the_sum(self, network: Network, draws: torch.Generator) -> Tensor:
        found, shown = [], []
        for label in range(self.classes):
            real, synthetic = self.pair(label, draws)
            found.append(gradient_of(network, real, torch.full((len(real),), label)))
            shown.append(synthetic)
        wanted = tuple(torch.stack(parts).mean(dim=0) for parts in zip(*found, strict=True))
        return row_cosine(wanted, gradient_of(network, torch.cat(shown), self.labels(), live=True))


class PlainIDC(PlainImages):
    """One update for each class in turn, all images coast on their momentum; then the network learns.

    Every image of a class is in an update: there is no limit to them here.
    """

    settings: IDCSettings

    def __init__(self, source: ImageSource, per_class: int, seed: int, settings: IDCSettings) -> None:
        super().__init__(source, per_class, seed, settings)
        self.operations = [name for name in ("color", "crop", "cutout") if name in source.augmentation]
        self.problem = ImageProblem(
            class_names=source.class_names,
            counts=(per_class,) * self.classes,
            seed=seed,
            device=torch.device("cpu"),
            source=source,
        )
        self.learning = ExpertSettings(
            settings.network, settings.train_batch, augmentation="color-crop", cutmix=settings.cutmix
        )

    def step(self, i: int) -> float:
        """The updates under one network; gives the mean loss of the classes at the last."""
        network = self.fresh_network("network", i).train()
        optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        for update in range(self.settings.outer):
            n = i * self.settings.outer + update
            draws = generator(self.seed, "batch", n)
            total = 0.0
            for label in range(self.classes):
                loss = self._loss(network, label, draws)
                self.descend(loss)
                total += loss.item()
            if update < self.settings.outer - 1:
                self._train(network, optimizer, n)
        return total / self.classes

    def _loss(self, network: Network, label: int, draws: torch.Generator) -> Tensor:
        real = pick(self.by_class[label], self.settings.real_batch, draws)
        drawn = draw_several(self.operations, draws)
        real, synthetic = (augment(own, *drawn) for own in (real, expand(self.images[label], self.mosaic)))
        wanted = gradient_of(network, real, torch.full((len(real),), label))
        own = gradient_of(network, synthetic, torch.full((len(synthetic),), label), live=True)
        return conv_distance(wanted, own, self.settings.gradient_distance)

    def _train(self, network: Network, optimizer: torch.optim.Optimizer, n: int) -> None:
        draws = generator(self.seed, "inner training", n)
        for images, labels in epoch(self.problem, self.learning, draws, self.settings.train_images):
            optimizer.zero_grad()
            F.cross_entropy(network(images), labels).backward()
            optimizer.step()


def conv_distance(real: Gradient, synthetic: Gradient, name: str) -> Tensor:
    """Squared or absolute differences of the weights of convolutions, summed."""
    total = torch.zeros(())
    for one, other in zip(real, synthetic, strict=True):
        if one.ndim == 4:
            difference = one - other
            total = total + (difference.square() if name == "conv-squared" else difference.abs()).sum()
    return total
