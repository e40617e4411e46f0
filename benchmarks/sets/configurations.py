"""Thirty configurations of networks and of their training, as a person who tunes might try."""

import random
from dataclasses import replace

from lqm.images.evaluation import EvaluationProtocol

COUNT = 30
# Most are ConvNets; the others keep the comparison from being about one family alone.
_FAMILIES = ("convnet",) * 6 + ("mlp", "lenet")


def configurations(count: int = COUNT) -> list[EvaluationProtocol]:
    """The first configurations of one fixed list, each as a protocol that lacks its epochs."""
    draws = random.Random(0)
    return [_configuration(draws) for _ in range(count)]


def _configuration(draws: random.Random) -> EvaluationProtocol:
    family = draws.choice(_FAMILIES)
    width, depth = draws.choice((8, 16, 32)), draws.choice((1, 2, 3))
    norm = draws.choice(("instance", "batch", "group", "none"))
    activation = draws.choice(("relu", "leaky", "swish", "sigmoid"))
    pooling = draws.choice(("average", "max"))
    layers = f"norm={norm}:activation={activation}:pooling={pooling}"
    network = {
        "convnet": f"convnet:width={width}:depth={depth}:{layers}",
        "mlp": f"mlp:width={4 * width}",
        "lenet": "lenet",
    }[family]
    blank = EvaluationProtocol("proxy", epochs=1, networks=1, network=network)
    return replace(
        blank,
        learning_rate=draws.choice((0.003, 0.01, 0.03, 0.1)),
        weight_decay=draws.choice((0.0, 5e-4, 5e-3)),
        batch=draws.choice((32, 64, 128)),
        augmentation=draws.choice(("one", "several")),
        cutmix=draws.choice((0.0, 0.5)),
    )
