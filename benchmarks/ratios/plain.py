"""The field's loops (DM, DataDAM, IDM, evaluation training) as its scripts write them, to measure ours by.

Eager, one class at a time, all real images of a class in one pass, `torch.quantile` for quantiles. The
random draws are those of our methods, and images are clipped as ours are, so that each step gives what ours
gives. That holds for networks that see one image at a time: not with batch norm, nor with dropout.
"""

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from benchmarks.ratios.plain_cat import hazen
from benchmarks.ratios.plain_images import PlainImages, plain_epoch
from lqm.condensed.mosaic import expand
from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.methods.datadam import DataDAMSettings
from lqm.images.methods.dm import DMSettings
from lqm.images.methods.idm import IDMSettings
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Network
from lqm.images.sources import Images, ImageSource, pick


class _Plain(PlainImages):
    """Images that are matched by a distance.

    Args:
        distance: "mean" or "lqm".
        settings: of our method; one update for all classes is known here.
    """

    def __init__(
        self, source: ImageSource, distance: str, per_class: int, seed: int, settings: MatchingSettings
    ) -> None:
        super().__init__(source, per_class, seed, settings)
        self.difference = _DIFFERENCES[distance]

    def pair(self, label: int, draws: torch.Generator) -> tuple[Tensor, Tensor]:
        """Real and synthetic images of a class under the same transform."""
        real = pick(self.by_class[label], self.settings.real_batch, draws)
        drawn = draw(self.source.augmentation, draws)
        return augment(real, drawn), augment(expand(self.images[label], self.mosaic), drawn)


class PlainDM(_Plain):
    """One fresh frozen network a step; the losses of all classes are added up for one update."""

    settings: DMSettings

    def step(self, i: int) -> float:
        """One update; gives the mean loss of the classes."""
        network = self.fresh_network("network", i).requires_grad_(False)
        draws = generator(self.seed, "batch", i)
        loss = torch.zeros(())
        for label in range(len(self.by_class)):
            loss = loss + self.loss(network, *self.pair(label, draws))
        self.descend(loss)
        return loss.item() / len(self.by_class)

    def loss(self, network: Network, real: Tensor, synthetic: Tensor) -> Tensor:
        """Loss of one class."""
        return self.difference(network.embed(real).detach(), network.embed(synthetic))


class PlainDataDAM(PlainDM):
    """DM, with the attention maps of all layers but the last, which are compared by their means."""

    settings: DataDAMSettings

    def loss(self, network: Network, real: Tensor, synthetic: Tensor) -> Tensor:
        """Loss of one class."""
        *real_maps, real_features = (layer.detach() for layer in self._readouts(network, real))
        *maps, features = self._readouts(network, synthetic)
        loss = self.settings.embedding_weight * self.difference(real_features, features)
        for theirs, own in zip(real_maps, maps, strict=True):
            loss = loss + _between_means(theirs, own)
        return self.settings.attention_weight * loss

    def _readouts(self, network: Network, images: Tensor) -> list[Tensor]:
        """Attention maps, [B, H * W] each, then the latent features."""
        seen: list[Tensor] = []
        hooks = [
            layer.register_forward_hook(lambda layer, given, found: seen.append(found))
            for layer in network.modules()
            if isinstance(layer, nn.ReLU)
        ]
        features = network.embed(images)
        for hook in hooks:
            hook.remove()
        maps = [found.abs().pow(self.settings.power).sum(dim=1).flatten(1) for found in seen[:-1]]
        return [*(F.normalize(flat, dim=1) for flat in maps), features]


class PlainIDM(_Plain):
    """One network of a queue a step, one update a class, then some of the networks learn.

    As in the field's script the weights are never frozen, so matching finds their gradients too, which are
    thrown away; and the synthetic images go through the network twice, for features and for classes.
    """

    settings: IDMSettings

    def __init__(
        self, source: ImageSource, distance: str, per_class: int, seed: int, settings: IDMSettings
    ) -> None:
        super().__init__(source, distance, per_class, seed, settings)
        self.real, self.labels = source.normalised(source.train.images), source.train.labels
        self.networks: list[Network] = []
        self.optimizers: list[torch.optim.SGD] = []
        self.meters: list[_Meter] = []
        self.made = 0
        for _ in range(settings.queue_start):
            self.push()

    def push(self) -> None:
        """Add a fresh network; if the queue is full, the oldest goes."""
        if len(self.networks) == self.settings.queue_limit:
            for queue in (self.networks, self.optimizers, self.meters):
                queue.pop(0)
        network = self.fresh_network("queue", self.made)
        self.networks.append(network)
        self.optimizers.append(
            torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        )
        self.meters.append(_Meter())
        self.made += 1

    def step(self, i: int) -> float:
        """One update for each class, then the training; gives the mean loss of the classes."""
        if i % self.settings.queue_interval == 0:
            self.push()
        draws, choices = generator(self.seed, "batch", i), generator(self.seed, "students", i)
        place = int(torch.randperm(len(self.networks), generator=choices)[0])
        total = 0.0
        for label in range(len(self.by_class)):
            loss = self.loss(place, label, draws)
            self.descend(loss)
            total += loss.item()
        for place in torch.randperm(len(self.networks), generator=choices)[: self.settings.students].tolist():
            for _ in range(self.settings.student_steps):
                self.learn(place, choices)
        return total / len(self.by_class)

    def loss(self, place: int, label: int, draws: torch.Generator) -> Tensor:
        """Loss of one class under the network at this place of the queue."""
        network = self.networks[place].eval()
        real, synthetic = self.pair(label, draws)
        loss = self.difference(network.embed(real).detach(), network.embed(synthetic))
        if self.settings.class_weight:
            wanted = torch.full((len(synthetic),), label)
            named = F.cross_entropy(network(synthetic), wanted)
            loss = loss + self.settings.class_weight * self.meters[place].percent * named
        return loss

    def learn(self, place: int, draws: torch.Generator) -> None:
        """One step of a network of the queue on real images of any class."""
        network, optimizer = self.networks[place].train(), self.optimizers[place]
        chosen = torch.randperm(len(self.labels), generator=draws)[: self.settings.student_batch]
        labels = self.labels[chosen]
        logits = network(self.real[chosen])
        loss = F.cross_entropy(logits, labels)
        self.meters[place].add(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class _Meter:
    """How often a network was right on what it has learned from."""

    def __init__(self) -> None:
        self.right = self.seen = 0

    @property
    def percent(self) -> float:
        """0 to 100; 0 before it has learned anything."""
        return 100 * self.right / self.seen if self.seen else 0.0

    def add(self, logits: Tensor, labels: Tensor) -> None:
        """Count the answers to one batch."""
        self.right += int((logits.argmax(dim=1) == labels).sum())
        self.seen += len(labels)


def plain_train(
    network: Network,
    images: Images,
    source: ImageSource,
    *,
    epochs: int,
    learning_rate: float,
    momentum: float,
    weight_decay: float,
    batch: int,
    draws: torch.Generator,
) -> None:
    """Train a network on images, which a loader collects one by one, as evaluation does."""
    dataset = TensorDataset(source.normalised(images.images), images.labels)
    options = {"momentum": momentum, "weight_decay": weight_decay}
    optimizer = torch.optim.SGD(network.parameters(), lr=learning_rate, **options)
    for epoch in range(epochs + 1):
        plain_epoch(network, optimizer, dataset, batch=batch, augmentation=source.augmentation, draws=draws)
        if epoch == epochs // 2 + 1:
            optimizer = torch.optim.SGD(network.parameters(), lr=learning_rate * 0.1, **options)


def _between_means(real: Tensor, synthetic: Tensor) -> Tensor:
    return (real.mean(dim=0) - synthetic.mean(dim=0)).square().sum()


def _between_quantiles(real: Tensor, synthetic: Tensor) -> Tensor:
    count = len(synthetic)
    return (hazen(real, count) - synthetic.sort(dim=0).values).square().sum() / count


_DIFFERENCES = {"mean": _between_means, "lqm": _between_quantiles}
