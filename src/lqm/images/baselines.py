"""Sets of real pictures that a condensed set is compared with."""

from collections.abc import Callable

import torch

from lqm.engine.randomness import generator
from lqm.images.methods.coreset import CoresetSettings, Herding
from lqm.images.sources import ImageSource, Pictures, pick

Chooser = Callable[[int], Pictures]


def random_pictures(source: ImageSource, per_class: int, seed: int, index: int) -> Pictures:
    """`per_class` real training pictures of each class, drawn without replacement."""
    draws = generator(seed, "random pictures", index)
    images = torch.cat([pick(pictures, per_class, draws) for pictures in source.by_class])
    return Pictures(images, torch.arange(len(source.class_names)).repeat_interleave(per_class))


def herded_pictures(
    source: ImageSource, per_class: int, seed: int, network: str, device: torch.device
) -> Pictures:
    """The pictures that herding chooses by a network of this kind."""
    settings = CoresetSettings(network=network)
    chooser = Herding(source, None, per_class, seed, settings, device)
    for i in range(settings.steps):
        chooser.step(i)
    small = chooser.result()
    return Pictures(small.images, small.labels)


BASELINES = ("random", "herding", "full")


def baseline(
    name: str, source: ImageSource, per_class: int, seed: int, network: str, device: torch.device
) -> Chooser:
    """The pictures that network j is to be trained on: other random ones for each, else always the same."""
    if name == "random":
        return lambda j: random_pictures(source, per_class, seed, j)
    pictures = source.train if name == "full" else herded_pictures(source, per_class, seed, network, device)
    return lambda j: pictures
