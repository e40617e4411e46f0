"""What a set of images is worth: the test accuracy of fresh networks trained on it."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import ceil
from typing import ClassVar

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator, seeded
from lqm.images.networks import (
    NETWORKS,
    Network,
    NetworkMaker,
    count_activations,
    describe,
    make_network,
)
from lqm.images.sources import Images, ImageSource
from lqm.images.training import latent_features, predict, train
from lqm.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.scorebook import Finding, keep
from lqm.scores import AfterEach, Protocol, Score, finding, score_networks


@dataclass(frozen=True)
class EvaluationProtocol(Protocol):
    """How networks are trained on images and judged.

    The schedule is the field's: epochs 0 to `epochs`, and after epoch `epochs // 2 + 1` a new optimiser
    with a tenth of the learning rate. The whole training set, on which that would take days, is learned by
    `full_networks` networks, each in about `full_steps` steps of the same schedule.
    """

    records: ClassVar[str] = "images"

    network: str = "convnet"
    full_networks: int = 5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    full_steps: int = 40_000
    momentum: float = 0.9
    batch: int = 256

    @property
    def kind(self) -> str:
        """The network in words."""
        known = self.network.partition(":")[0] in NETWORKS
        return describe(self.network) if known else self.network.removeprefix("own:")

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many images; fewer on a large `full` training set."""
        return min(self.epochs, ceil(self.full_steps / ceil(records / self.batch))) if full else self.epochs


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


def score(
    images: Callable[[int], Images],
    source: ImageSource,
    protocol: EvaluationProtocol,
    *,
    seed: int,
    device: torch.device,
    network: NetworkMaker | None = None,
    full: bool = False,
    compute: Compute | None = None,
    after_each: AfterEach = lambda count, metrics: None,
) -> Score:
    """Train the protocol's networks, network j on `images(j)`, and test them on the source's test set.

    What a network found is kept, so that an evaluation that was stopped goes on after the last one.

    Args:
        images: what network j is trained on.
        source: has the test set, and the real distributions.
        protocol: how they are trained.
        seed: of the networks and of their training.
        device: where to compute.
        network: a factory of the user's own in place of the protocol's network; its scores are not kept.
        full: whether this is the whole training set, to which the protocol may give fewer epochs.
        compute: how networks are run.
        after_each: told how many networks are done, and how the last one did.
    """
    how = compute or Compute()

    def judge(j: int) -> tuple[int, Finding]:
        chosen = images(j)
        key = {
            "protocol": protocol.rules,
            "seed": seed,
            "index": j,
            "full": full,
            "pictures": chosen.digest,
            "source": source.identity,
            "preprocessing": source.preprocessing,
            "compute": asdict(how),
        }

        def find() -> Finding:
            maker = network or protocol.network
            return _judge(chosen, source, protocol, maker, seed, j, device, how, full=full)

        return len(chosen.labels), find() if network else keep(key, device, find)

    return score_networks(protocol.full_networks if full else protocol.networks, judge, after_each)


def _judge(
    images: Images,
    source: ImageSource,
    protocol: EvaluationProtocol,
    maker: str | NetworkMaker,
    seed: int,
    index: int,
    device: torch.device,
    compute: Compute,
    *,
    full: bool,
) -> Finding:
    """What one network finds, as plain numbers."""
    network = fresh_network(source, maker, seed, index).to(device)
    before = latent_match(network, images, source, compute)
    with seeded(seed, "evaluation training", index):
        train(
            network,
            images,
            source,
            epochs=protocol.epochs_for(len(images.labels), full=full),
            learning_rate=protocol.learning_rate,
            momentum=protocol.momentum,
            weight_decay=protocol.weight_decay,
            batch=protocol.batch,
            draws=generator(seed, "evaluation batches", index),
            compute=compute,
        )
    after = latent_match(network, images, source, compute)
    named = predict(network, source, compute)
    return finding(named, source.test.labels, len(source.class_names), before, after)


def fresh_network(source: ImageSource, maker: str | NetworkMaker, seed: int, index: int) -> Network:
    """Network number `index` of an evaluation, before its training."""
    with seeded(seed, "evaluation network", index):
        return make_network(maker, source.shape, len(source.class_names))


def activations_to_evaluate(
    source: ImageSource, protocol: EvaluationProtocol, condensed: CondensedImages, full: bool
) -> float:
    """About how many numbers all layers give while the networks of one training set learn.

    That set is the condensed one, or a baseline of as many images, or the `full` training set.
    """
    records = len(source.train.labels if full else condensed.records()[1])
    networks = protocol.full_networks if full else protocol.networks
    seen = networks * protocol.epochs_for(records, full=full) * records
    return 3.0 * seen * count_activations(fresh_network(source, protocol.network, 0, 0), source.shape)


def latent_match(
    network: Network, labelled: Images, source: ImageSource, compute: Compute | None = None
) -> LatentMatch:
    """How well labelled keep the latent distributions of their classes under one network."""

    def features(images: Tensor, label: int) -> Tensor:
        return class_features(network, images, label, source, compute)

    return match_of_classes(
        ClassLatents(label, features(real, label), features(labelled.of_class(label), label))
        for label, real in enumerate(source.by_class)
    )


def class_features(
    network: Network, images: Tensor, label: int, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """What a network finds in images of one class; in 500 if there are more, always the same ones."""
    return latent_features(network, matched(images, label), source, compute)
