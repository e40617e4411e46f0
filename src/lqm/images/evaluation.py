"""What a set of pictures is worth: the test accuracy of fresh networks trained on it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import fmean, pstdev

import torch
from torch import Tensor

from lqm.diagnostics import cramer_von_mises, extreme_share
from lqm.engine.randomness import generator, seeded
from lqm.images.networks import NETWORKS, Network, NetworkMaker, describe, make_network
from lqm.images.sources import ImageSource, Pictures
from lqm.images.training import accuracy, latent_features, train
from lqm.scorebook import keep

_MATCHED = 500


@dataclass(frozen=True)
class EvaluationProtocol:
    """How networks are trained and judged; fixed, named, and printed beside every score.

    The schedule is the field's: epochs 0 to `epochs`, and after epoch `epochs // 2 + 1` a new optimiser
    with a tenth of the learning rate. The whole training set, on which that would take days, is learned by
    `full_networks` networks, each in about `full_steps` steps of the same schedule. The last network counts;
    nothing is selected by test accuracy.
    """

    name: str
    epochs: int
    networks: int
    network: str = "convnet"
    full_networks: int = 5
    full_steps: int = 40_000
    learning_rate: float = 0.01
    momentum: float = 0.9
    weight_decay: float = 5e-4
    batch: int = 256

    def __str__(self) -> str:
        known = self.network.partition(":")[0] in NETWORKS
        kind = describe(self.network) if known else self.network.removeprefix("own:")
        return (
            f"{self.name}: {self.networks} fresh {kind}, "
            f"{self.epochs} epochs each at rate {self.learning_rate:g}, mean and deviation over networks"
        )

    def epochs_for(self, pictures: int, *, full: bool = False) -> int:
        """Epochs on a set of so many pictures; fewer on a large `full` training set."""
        return min(self.epochs, ceil(self.full_steps / ceil(pictures / self.batch))) if full else self.epochs


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        EvaluationProtocol("field-1000", epochs=1000, networks=5),
        EvaluationProtocol(
            "quick-200",
            epochs=200,
            networks=4,
            network="convnet:width=32",
            full_networks=2,
            full_steps=2000,
            learning_rate=0.1,
        ),
        EvaluationProtocol(
            "cross-200",
            epochs=200,
            networks=2,
            network="convnet:width=32",
            full_networks=1,
            full_steps=2000,
            learning_rate=0.03,
        ),
    )
}


@dataclass(frozen=True)
class LatentMatch:
    """How well a set keeps the latent distributions, averaged over classes, features and networks.

    The training pictures of a class are 500 of them at most.

    Attributes:
        cramer_von_mises: two-sample statistic between the set and the training pictures of its class; it
            grows with the number of records, so only sets of as many are to be compared.
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
    network: NetworkMaker | None = None,
    full: bool = False,
    after_each: Callable[[int, Mapping[str, float]], None] = lambda count, metrics: None,
) -> Score:
    """Train the protocol's networks, network j on `pictures(j)`, and test them on the source's test set.

    What a network found is kept, so that an evaluation that was stopped goes on after the last one.

    Args:
        pictures: what network j is trained on.
        source: has the test set, and the real distributions.
        protocol: how they are trained.
        seed: of the networks and of their training.
        device: where to compute.
        network: a factory of the user's own in place of the protocol's network; its scores are not kept.
        full: whether this is the whole training set, to which the protocol may give fewer epochs.
        after_each: told how many networks are done, and how the last one did.
    """
    counts = ("name", "networks", "full_networks")
    rules = {name: rule for name, rule in asdict(protocol).items() if name not in counts}
    accuracies, before, after = [], [], []
    for j in range(protocol.full_networks if full else protocol.networks):
        chosen = pictures(j)

        def judge(chosen: Pictures = chosen, j: int = j) -> dict[str, list[float]]:
            return _judge(chosen, source, protocol, network or protocol.network, seed, j, device, full)

        key = {
            "protocol": rules,
            "seed": seed,
            "index": j,
            "full": full,
            "pictures": chosen.digest,
            "source": source.identity,
            "preprocessing": source.preprocessing,
        }
        found = judge() if network else keep(key, device, judge)
        accuracies.append(found["accuracy"][0])
        before.append(LatentMatch(*found["before"]))
        after.append(LatentMatch(*found["after"]))
        after_each(j + 1, {"accuracy": accuracies[-1]})
    return Score(len(chosen.labels), tuple(accuracies), _mean(before), _mean(after))


def _judge(
    pictures: Pictures,
    source: ImageSource,
    protocol: EvaluationProtocol,
    maker: str | NetworkMaker,
    seed: int,
    index: int,
    device: torch.device,
    full: bool,
) -> dict[str, list[float]]:
    """What one network finds, as plain numbers."""
    network = fresh_network(source, maker, seed, index).to(device)
    before = latent_match(network, pictures, source)
    with seeded(seed, "evaluation training", index):
        train(
            network,
            pictures,
            source,
            epochs=protocol.epochs_for(len(pictures.labels), full=full),
            learning_rate=protocol.learning_rate,
            momentum=protocol.momentum,
            weight_decay=protocol.weight_decay,
            batch=protocol.batch,
            draws=generator(seed, "evaluation batches", index),
        )
    after = latent_match(network, pictures, source)
    return {
        "accuracy": [accuracy(network, source)],
        "before": [before.cramer_von_mises, before.extremes],
        "after": [after.cramer_von_mises, after.extremes],
    }


def fresh_network(source: ImageSource, maker: str | NetworkMaker, seed: int, index: int) -> Network:
    """Network number `index` of an evaluation, before its training."""
    with seeded(seed, "evaluation network", index):
        return make_network(maker, source.shape, len(source.class_names))


def latent_match(network: Network, pictures: Pictures, source: ImageSource) -> LatentMatch:
    """How well pictures keep the latent distributions of their classes under one network.

    Of a class with more than 500 pictures, 500 are looked at, always the same ones.
    """
    matches = []
    for label in range(len(source.class_names)):
        real, own = (
            latent_features(network, _sample(images, label), source)
            for images in (source.by_class[label], pictures.of_class(label))
        )
        statistic = cramer_von_mises(real, own, ties="ecdf").mean().item()
        matches.append(LatentMatch(statistic, extreme_share(real, own).item()))
    return _mean(matches)


def _sample(images: Tensor, label: int) -> Tensor:
    if len(images) <= _MATCHED:
        return images
    return images[torch.randperm(len(images), generator=generator(0, "matched", label))[:_MATCHED]]


def _mean(matches: Sequence[LatentMatch]) -> LatentMatch:
    return LatentMatch(
        fmean(match.cramer_von_mises for match in matches), fmean(match.extremes for match in matches)
    )
