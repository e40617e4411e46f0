"""How condensed pictures are judged, for `lqm.evaluate`."""

from collections.abc import Iterator, Sequence

import torch

from lqm.condensed import CondensedPictures
from lqm.images.baselines import BASELINES, Chooser, baseline
from lqm.images.evaluation import (
    PROTOCOLS,
    EvaluationProtocol,
    class_features,
    fresh_network,
    numbers_to_evaluate,
    score,
)
from lqm.images.networks import Network, check_spec
from lqm.images.sources import ImageSource, Pictures, load_source
from lqm.latents import ClassLatents
from lqm.scores import Kind


def _records(
    name: str,
    small: CondensedPictures,
    source: ImageSource,
    protocol: EvaluationProtocol,
    seed: int,
    device: torch.device,
) -> Chooser:
    """What network j is trained on: the condensed pictures, or a baseline of as many."""
    if name == "condensed":
        pictures = Pictures(*small.records())
        return lambda j: pictures
    return baseline(name, source, small.manifest["per_class"], seed, protocol.network, device)


def _latents(
    network: Network, sets: Sequence[CondensedPictures], source: ImageSource
) -> Iterator[list[ClassLatents]]:
    real = [class_features(network, images, label, source) for label, images in enumerate(source.by_class)]
    for small in sets:
        pictures = Pictures(*small.records())
        yield [
            ClassLatents(label, features, class_features(network, pictures.of_class(label), label, source))
            for label, features in enumerate(real)
        ]


PICTURES = Kind(
    what="pictures",
    told_by="pictures, labels, class names or augmentation",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    read_protocol=EvaluationProtocol,
    check_spec=check_spec,
    find_source=load_source,
    fresh_network=fresh_network,
    records=_records,
    score=score,
    latents=_latents,
    numbers=numbers_to_evaluate,
)
