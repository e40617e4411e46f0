"""What a set of images is worth: the test accuracy of fresh networks trained on it."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator, seeded
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.evaluation.score_cache import Finding
from lqm.evaluation.scores import finding
from lqm.images.baselines import BASELINES, baseline
from lqm.images.networks import NETWORKS, Network, NetworkMaker, count_activations
from lqm.images.protocols import PROTOCOLS, EvaluationProtocol
from lqm.images.sources import Images, ImageSource, load_source
from lqm.images.training import latent_features, predict, train
from lqm.utils.errors import ConfigError
from lqm.utils.stored_arrays import Records


def _finder(
    source: ImageSource,
    protocol: EvaluationProtocol,
    maker: str | NetworkMaker,
    seed: int,
    device: torch.device,
    full: bool,
    compute: Compute,
) -> Callable[[Images, int], Finding]:
    def find(images: Images, index: int) -> Finding:
        network = fresh_network(source, maker, seed, index).to(device)
        before = latent_match(network, images, source, compute)
        along: list[float] = []
        testing = 0.0

        def test(epochs: int) -> None:
            nonlocal testing
            if protocol.test_every and epochs % protocol.test_every == 0:
                began = time.monotonic()
                along.append((predict(network, source, compute) == source.test.labels).double().mean().item())
                testing += time.monotonic() - began

        began = time.monotonic()
        teach(
            network,
            images,
            source,
            protocol,
            seed=seed,
            index=index,
            full=full,
            compute=compute,
            after_epoch=test,
        )
        seconds = time.monotonic() - began - testing
        after = latent_match(network, images, source, compute)
        named = predict(network, source, compute)
        found = finding(named, source.test.labels, len(source.class_names), before, after, seconds)
        return found | ({"best": [max(*along, *found["accuracy"])]} if along else {})

    return find


def teach(
    network: Network,
    images: Images,
    source: ImageSource,
    protocol: EvaluationProtocol,
    *,
    seed: int,
    index: int,
    full: bool,
    compute: Compute,
    after_epoch: Callable[[int], None] = lambda epochs: None,
) -> None:
    """Train network number `index` of an evaluation."""
    with seeded(seed, "evaluation training", index):
        train(
            network,
            images,
            source,
            epochs=protocol.epochs_for(len(images.labels), full=full),
            learning_rate=(images.learning_rate if protocol.learned else None) or protocol.learning_rate,
            momentum=protocol.momentum,
            weight_decay=protocol.weight_decay,
            batch=protocol.batch,
            draws=generator(seed, "evaluation batches", index),
            schedule=protocol.schedule,
            several=protocol.augmentation == "several",
            mixed=protocol.cutmix,
            compute=compute,
            after_epoch=after_epoch,
        )


def _require_suited(condensed: CondensedImages, protocol: EvaluationProtocol) -> None:
    if condensed.learning_rate is not None and not protocol.learned:
        able = ", ".join(name for name, each in PROTOCOLS.items() if each.learned)
        raise ConfigError(
            f"this set was learned with a rate of its own, {condensed.learning_rate:.4g}, which protocol "
            f"'{protocol.name}' would not use; use {able}"
        )


def _as_records(condensed: CondensedImages) -> Images:
    """A set with all that belongs to learning from it."""
    soft = None if condensed.soft_labels is None else condensed.targets()
    return Images(*condensed.records(), soft, condensed.learning_rate)


def _key(images: Images, source: ImageSource, full: bool, compute: Compute) -> dict[str, Any]:
    return {
        "full": full,
        "images": images.digest,
        "preprocessing": source.preprocessing,
        "compute": asdict(compute),
    }


def fresh_network(source: ImageSource, maker: str | NetworkMaker, seed: int, index: int) -> Network:
    """Network number `index` of an evaluation, before its training."""
    with seeded(seed, "evaluation network", index):
        return NETWORKS.make(maker, source.shape, len(source.class_names))


def activations_to_evaluate(
    source: ImageSource, protocol: EvaluationProtocol, condensed: CondensedImages, full: bool
) -> float:
    """About how many activations all layers give while the networks of one training set learn.

    That set is the condensed one, or a baseline of as many images, or the `full` training set.
    """
    records = len(source.train.labels if full else condensed.records()[1])
    networks = protocol.full_networks if full else protocol.networks
    seen = networks * protocol.epochs_for(records, full=full) * records
    return 3.0 * seen * count_activations(fresh_network(source, protocol.network, 0, 0), source.shape)


def latent_match(
    network: Network, labelled: Images, source: ImageSource, compute: Compute | None = None
) -> LatentMatch:
    """How well labelled images keep the latent distributions of their classes under one network."""
    features = partial(class_features, network, source=source, compute=compute)
    return match_of_classes(
        ClassLatents(label, features(real, label), features(labelled.of_class(label), label))
        for label, real in enumerate(source.by_class)
    )


def class_features(
    network: Network, images: Records, label: int, source: ImageSource, compute: Compute | None = None
) -> Tensor:
    """Latent features of images of one class; of 500 if there are more, always the same ones."""
    return latent_features(network, matched(images, label), source, compute)


def _latents(network: Network, sets: Sequence[Images], source: ImageSource) -> Iterator[list[ClassLatents]]:
    real = [class_features(network, images, label, source) for label, images in enumerate(source.by_class)]
    for images in sets:
        yield [
            ClassLatents(label, features, class_features(network, images.of_class(label), label, source))
            for label, features in enumerate(real)
        ]


IMAGES = Evaluator(
    what="images",
    told_by="images, labels, class names or augmentation",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    read_protocol=EvaluationProtocol,
    check_spec=NETWORKS.check,
    find_source=load_source,
    fresh_network=fresh_network,
    as_records=_as_records,
    require_suited=_require_suited,
    baseline=lambda name, condensed, source, protocol, seed, device: baseline(
        name, source, condensed.manifest["per_class"], seed, protocol.network, device
    ),
    key=_key,
    finder=_finder,
    latents=_latents,
    activations=activations_to_evaluate,
    remedies="a lower learning_rate, more steps or another method",
)
score = IMAGES.score
