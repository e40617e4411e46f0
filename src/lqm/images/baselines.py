"""Sets of real pictures that a condensed set is compared with."""

from collections.abc import Callable

import torch

from lqm.images.methods.coreset import CoresetSettings, Herding, random_pictures, train_and_choose
from lqm.images.sources import ImageSource, Pictures

BASELINES = ("random", "herding", "full")

Chooser = Callable[[int], Pictures]


def baseline(
    name: str, source: ImageSource, per_class: int, seed: int, network: str, device: torch.device
) -> Chooser:
    """The pictures that network j is to be trained on: other random ones for each, else always the same."""
    if name == "random":
        return lambda j: random_pictures(source, per_class, seed, j)
    pictures = source.train if name == "full" else _herded(source, per_class, seed, network, device)
    return lambda j: pictures


def _herded(source: ImageSource, per_class: int, seed: int, network: str, device: torch.device) -> Pictures:
    settings = CoresetSettings(network=network)
    chosen = train_and_choose(Herding(source, None, per_class, seed, settings, device))
    labels = torch.arange(len(chosen)).repeat_interleave(per_class)
    return Pictures(torch.cat(chosen), labels)
