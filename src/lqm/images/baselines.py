"""Sets of real images that a condensed set is compared with."""

from collections.abc import Callable

import torch

from lqm.images.methods.coresets import CoresetSettings, ImageCoreset, random_images, train_and_choose
from lqm.images.problem import ImageProblem
from lqm.images.sources import Images, ImageSource

BASELINES = ("random", "herding", "full")

Chooser = Callable[[int], Images]


def baseline(
    name: str, source: ImageSource, per_class: int, seed: int, network: str, device: torch.device
) -> Chooser:
    """The images that network j is to be trained on: other random ones for each, else always the same."""
    if name == "random":
        return lambda j: random_images(source, per_class, seed, j)
    images = source.train if name == "full" else _herded(source, per_class, seed, network, device)
    return lambda j: images


def _herded(source: ImageSource, per_class: int, seed: int, network: str, device: torch.device) -> Images:
    problem = ImageProblem(
        class_names=source.class_names,
        counts=(per_class,) * len(source.class_names),
        seed=seed,
        device=device,
        source=source,
    )
    steps = CoresetSettings().steps
    chosen = train_and_choose(ImageCoreset(problem, "herding", per_class, steps=steps, network=network))
    labels = torch.arange(len(chosen)).repeat_interleave(per_class)
    return Images(torch.cat(chosen), labels)
