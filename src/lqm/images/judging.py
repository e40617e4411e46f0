"""How condensed images are judged, for `lqm.evaluate`."""

from collections.abc import Iterator, Sequence

import torch

from lqm.condensed import CondensedImages
from lqm.images.baselines import BASELINES, Chooser, baseline
from lqm.images.evaluation import (
    PROTOCOLS,
    EvaluationProtocol,
    activations_to_evaluate,
    class_features,
    fresh_network,
    score,
)
from lqm.images.networks import Network, check_spec
from lqm.images.sources import Images, ImageSource, load_source
from lqm.latents import ClassLatents
from lqm.scores import Kind


def _records(
    name: str,
    condensed: CondensedImages,
    source: ImageSource,
    protocol: EvaluationProtocol,
    seed: int,
    device: torch.device,
) -> Chooser:
    """What network j is trained on: the condensed images, or a baseline of as many."""
    if name == "condensed":
        images = Images(*condensed.records())
        return lambda j: images
    return baseline(name, source, condensed.manifest["per_class"], seed, protocol.network, device)


def _latents(
    network: Network, sets: Sequence[CondensedImages], source: ImageSource
) -> Iterator[list[ClassLatents]]:
    real = [class_features(network, images, label, source) for label, images in enumerate(source.by_class)]
    for condensed in sets:
        labelled = Images(*condensed.records())
        yield [
            ClassLatents(label, features, class_features(network, labelled.of_class(label), label, source))
            for label, features in enumerate(real)
        ]


IMAGES = Kind(
    what="images",
    told_by="images, labels, class names or augmentation",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    read_protocol=EvaluationProtocol,
    check_spec=check_spec,
    find_source=load_source,
    fresh_network=fresh_network,
    records=_records,
    score=score,
    latents=_latents,
    numbers=activations_to_evaluate,
)
