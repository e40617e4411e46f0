"""What a set of pictures is worth: the test accuracy of fresh networks trained on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.diagnostics import cramer_von_mises, extreme_share
from lqm.engine.randomness import generator, seeded
from lqm.images.augment import augment, draw
from lqm.images.networks import ConvNet, embed_in_chunks
from lqm.images.sources import ImageSource, Pictures, pick


@dataclass(frozen=True)
class EvaluationProtocol:
    """How networks are trained and judged; fixed, named, and printed beside every score.

    The schedule is the field's: epochs 0 to `epochs`, and after epoch `epochs // 2 + 1` a new optimiser
    with a tenth of the learning rate. Each batch is augmented by one operation, with own numbers a picture.
    The last network counts; nothing is selected by test accuracy.
    """

    name: str
    epochs: int
    networks: int
    width: int
    depth: int = 3
    learning_rate: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 5e-4
    batch: int = 256

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.networks} fresh ConvNet-{self.depth} of width {self.width}, "
            f"{self.epochs} epochs each at rate {self.learning_rate:g}, mean and deviation over networks"
        )


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        EvaluationProtocol("field-1000", epochs=1000, networks=5, width=128),
        EvaluationProtocol("quick-200", epochs=200, networks=4, width=32, learning_rate=0.1),
    )
}


@dataclass(frozen=True)
class LatentMatch:
    """How well a set keeps the latent distributions, averaged over classes, features and networks.

    Attributes:
        cramer_von_mises: two-sample statistic between the set and the training pictures of its class.
        extremes: share of values outside the range of the training pictures of the class.
    """

    cramer_von_mises: float
    extremes: float


@dataclass(frozen=True)
class Score:
    """What one protocol finds of one set.

    The match is measured on the features of the protocol's networks `before` their training, which are the
    same for every set, and `after` it, as the paper does.
    """

    pictures: int
    accuracies: tuple[float, ...]
    before: LatentMatch
    after: LatentMatch

    @property
    def accuracy(self) -> float:
        """Mean over networks."""
        return fmean(self.accuracies)

    @property
    def deviation(self) -> float:
        """Standard deviation over networks (population, as the field reports it)."""
        return pstdev(self.accuracies)


def score(
    pictures: Callable[[int], Pictures],
    source: ImageSource,
    protocol: EvaluationProtocol,
    *,
    seed: int,
    device: torch.device,
    after_each: Callable[[int, Mapping[str, float]], None] = lambda count, metrics: None,
) -> Score:
    """Train the protocol's networks, network j on `pictures(j)`, and test them on the source's test set."""
    accuracies, before, after = [], [], []
    for j in range(protocol.networks):
        chosen = pictures(j)
        network = fresh_network(source, protocol, seed, j).to(device)
        before.append(latent_match(network, chosen, source, device))
        train(network, chosen, source, protocol, generator(seed, "evaluation batches", j))
        after.append(latent_match(network, chosen, source, device))
        accuracies.append(accuracy(network, source, device))
        after_each(j + 1, {"accuracy": accuracies[-1]})
    return Score(len(chosen.labels), tuple(accuracies), _mean(before), _mean(after))


def fresh_network(source: ImageSource, protocol: EvaluationProtocol, seed: int, index: int) -> ConvNet:
    """The protocol's network number `index`, before its training."""
    with seeded(seed, "evaluation network", index):
        return ConvNet(source.shape, len(source.class_names), protocol.width, protocol.depth)


def train(
    network: ConvNet,
    pictures: Pictures,
    source: ImageSource,
    protocol: EvaluationProtocol,
    draws: torch.Generator,
) -> None:
    """Train a network on pictures in [0, 1], as the protocol says."""
    device = next(network.parameters()).device
    images, labels = source.normalised(pictures.images).to(device), pictures.labels.to(device)
    optimizer = _optimizer(network, protocol, protocol.learning_rate)
    for epoch in range(protocol.epochs + 1):
        for batch in torch.randperm(len(labels), generator=draws).split(protocol.batch):
            record = draw(source.augmentation, draws, rows=len(batch))
            chosen = batch.to(device)
            loss = F.cross_entropy(network(augment(images[chosen], record)), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch == protocol.epochs // 2 + 1:
            optimizer = _optimizer(network, protocol, protocol.learning_rate * 0.1)


@torch.no_grad()
def accuracy(network: ConvNet, source: ImageSource, device: torch.device) -> float:
    """Share of the test pictures that a network names rightly."""
    images = source.normalised(source.test.images).to(device)
    found = network.classifier(embed_in_chunks(network, images)).argmax(dim=1)
    return float((found == source.test.labels.to(device)).double().mean())


def latent_match(
    network: ConvNet, pictures: Pictures, source: ImageSource, device: torch.device
) -> LatentMatch:
    """How well pictures keep the latent distributions of their classes under one network."""

    def features(images: Tensor) -> Tensor:
        return embed_in_chunks(network, source.normalised(images).to(device))

    matches = []
    for c in range(len(source.class_names)):
        real, own = features(source.train.of_class(c)), features(pictures.of_class(c))
        statistic = cramer_von_mises(real, own, ties="ecdf").mean().item()
        matches.append(LatentMatch(statistic, extreme_share(real, own).item()))
    return _mean(matches)


def random_pictures(source: ImageSource, per_class: int, seed: int, index: int) -> Pictures:
    """`per_class` real training pictures of each class, drawn without replacement."""
    draws = generator(seed, "random pictures", index)
    classes = range(len(source.class_names))
    images = torch.cat([pick(source.train.of_class(c), per_class, draws) for c in classes])
    return Pictures(images, torch.arange(len(source.class_names)).repeat_interleave(per_class))


def _optimizer(network: ConvNet, protocol: EvaluationProtocol, learning_rate: float) -> torch.optim.SGD:
    return torch.optim.SGD(
        network.parameters(), learning_rate, momentum=protocol.momentum, weight_decay=protocol.weight_decay
    )


def _mean(matches: Sequence[LatentMatch]) -> LatentMatch:
    return LatentMatch(
        fmean(match.cramer_von_mises for match in matches), fmean(match.extremes for match in matches)
    )
