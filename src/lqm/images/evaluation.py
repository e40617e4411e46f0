"""What a set of images is worth: the test accuracy of fresh networks trained on it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from math import ceil
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator, seeded
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.score_cache import Finding
from lqm.evaluation.scores import finding
from lqm.images.baselines import BASELINES, baseline
from lqm.images.networks import NETWORKS, Network, NetworkMaker, count_activations
from lqm.images.sources import Images, ImageSource, load_source
from lqm.images.training import Schedule, latent_features, predict, train
from lqm.utils.errors import ConfigError


@dataclass(frozen=True)
class EvaluationProtocol(Protocol):
    """How networks are trained on images and evaluated.

    The schedule is the field's: epochs 0 to `epochs`, and after epoch `epochs // 2 + 1` a new optimiser
    with a tenth of the learning rate. The whole training set, on which that would take days, is learned by
    `full_networks` networks, each in about `full_steps` steps of the same schedule.

    Attributes:
        learned: whether a set with a learning rate of its own is learned at that.
        schedule: `half`, the field's, or `fifths`: a fifth of the rate after two thirds and after five sixths
            of the epochs, with the same optimiser (Kim et al. 2022, IDC).
        augmentation: `one` operation for each image, or `several`: flip, color, and one of crop, scale and
            rotate.
        cutmix: the probability that a batch is mixed by CutMix.
    """

    records: ClassVar[str] = "images"
    later: ClassVar[tuple[str, ...]] = ("learned", "schedule", "augmentation", "cutmix")

    network: str = "convnet"
    full_networks: int = 5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    full_steps: int = 40_000
    momentum: float = 0.9
    batch: int = 256
    learned: bool = False
    schedule: Schedule = "half"
    augmentation: Literal["one", "several"] = "one"
    cutmix: float = 0.0

    @property
    def kind(self) -> str:
        """The network in words."""
        known = self.network.partition(":")[0] in NETWORKS
        return NETWORKS.describe(self.network) if known else self.network.removeprefix("own:")

    @property
    def rate(self) -> str:
        """The learning rate in words."""
        return f"the set's own rate ({self.learning_rate:g} if it has none)" if self.learned else super().rate

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many images; fewer on a large `full` training set."""
        return min(self.epochs, ceil(self.full_steps / ceil(records / self.batch))) if full else self.epochs


_IDC: dict[str, Any] = {"schedule": "fifths", "augmentation": "several", "cutmix": 0.5}
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        EvaluationProtocol("field-1000", epochs=1000, networks=5),
        EvaluationProtocol("field-2000", epochs=2000, networks=5),
        EvaluationProtocol("datadam-1800", epochs=1800, networks=10, batch=64),
        EvaluationProtocol("dsa-1000", epochs=1000, networks=5),
        EvaluationProtocol("learned-1000", epochs=1000, networks=5, learned=True),
        EvaluationProtocol("soft-1000", epochs=1000, networks=5, batch=128, learned=True),
        EvaluationProtocol("idc-1000", epochs=1000, networks=5, batch=64, **_IDC),
        EvaluationProtocol("idc-1500", epochs=1500, networks=5, batch=64, **_IDC),
        EvaluationProtocol(
            "learned-200",
            200,
            4,
            "convnet:width=32",
            full_networks=2,
            full_steps=2000,
            learning_rate=0.1,
            learned=True,
        ),
        EvaluationProtocol(
            "quick-200", 200, 4, "convnet:width=32", full_networks=2, full_steps=2000, learning_rate=0.1
        ),
        EvaluationProtocol(
            "cross-200", 200, 2, "convnet:width=32", full_networks=1, full_steps=2000, learning_rate=0.03
        ),
    )
}


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
        teach(network, images, source, protocol, seed=seed, index=index, full=full, compute=compute)
        after = latent_match(network, images, source, compute)
        named = predict(network, source, compute)
        return finding(named, source.test.labels, len(source.class_names), before, after)

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
    network: Network, images: Tensor, label: int, source: ImageSource, compute: Compute | None = None
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
