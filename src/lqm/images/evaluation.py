"""What a set of pictures is worth: the test accuracy of fresh networks trained on it."""

from collections.abc import Callable, Mapping
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
            f"{self.epochs} epochs each, mean and standard deviation over networks"
        )


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        EvaluationProtocol("field-1000", epochs=1000, networks=5, width=128),
        EvaluationProtocol("quick-200", epochs=200, networks=5, width=32, learning_rate=0.1),
    )
}


@dataclass(frozen=True)
class Score:
    """Accuracies of the networks of one protocol, and how well the set keeps the latent distributions.

    The last two are measured on the features of the networks trained on the set, and averaged over
    networks, classes and features: the two-sample Cramer-von Mises statistic, and the share of
    values outside the real class's range.
    """

    pictures: int
    accuracies: tuple[float, ...]
    cramer_von_mises: float
    extremes: float

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
    found = []
    for j in range(protocol.networks):
        chosen = pictures(j)
        network = train(chosen, source, protocol, seed=seed, index=j, device=device)
        hits = accuracy(network, source, device)
        found.append((hits, *_latent_match(network, chosen, source, device)))
        after_each(j + 1, {"accuracy": hits})
    accuracies, statistics, extremes = zip(*found, strict=True)
    return Score(len(chosen.labels), accuracies, fmean(statistics), fmean(extremes))


def train(
    pictures: Pictures,
    source: ImageSource,
    protocol: EvaluationProtocol,
    *,
    seed: int,
    index: int,
    device: torch.device,
) -> ConvNet:
    """Train fresh network number `index` on pictures in [0, 1]."""
    with seeded(seed, "evaluation network", index):
        network = ConvNet(source.shape, len(source.class_names), protocol.width, protocol.depth).to(device)
    images, labels = source.normalised(pictures.images).to(device), pictures.labels.to(device)
    draws = generator(seed, "evaluation batches", index)
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
    return network


@torch.no_grad()
def accuracy(network: ConvNet, source: ImageSource, device: torch.device) -> float:
    """Share of the test pictures that a network names rightly."""
    images = source.normalised(source.test.images).to(device)
    found = network.classifier(embed_in_chunks(network, images)).argmax(dim=1)
    return float((found == source.test.labels.to(device)).double().mean())


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


def _latent_match(
    network: ConvNet, pictures: Pictures, source: ImageSource, device: torch.device
) -> tuple[float, float]:
    """Mean Cramer-von Mises statistic and share of extremes over classes and features."""

    def features(images: Tensor) -> Tensor:
        return embed_in_chunks(network, source.normalised(images).to(device))

    pairs = [
        (features(source.train.of_class(c)), features(pictures.of_class(c)))
        for c in range(len(source.class_names))
    ]
    statistic = fmean(cramer_von_mises(real, own, ties="ecdf").mean().item() for real, own in pairs)
    return statistic, fmean(extreme_share(real, own).item() for real, own in pairs)
