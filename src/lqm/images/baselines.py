"""Sets of real images that a condensed set is compared with."""

from collections.abc import Callable

import torch

from lqm.evaluation.scores import for_each_network
from lqm.images.methods.coresets import CoresetSettings, ImageCoreset, random_images, train_and_choose
from lqm.images.problem import ImageProblem
from lqm.images.sources import Images, ImageSource

BASELINES = ("random", "herding", "full")


def baseline(
    name: str, source: ImageSource, per_class: int, seed: int, network: str, device: torch.device
) -> Callable[[int], Images]:
    """The images that network j is to be trained on: other random ones for each, else always the same."""

    def choose(j: int) -> Images:
        if name == "full":
            return source.train
        if name == "random":
            return random_images(source, per_class, seed, j)
        problem = ImageProblem(
            class_names=source.class_names,
            counts=(per_class,) * len(source.class_names),
            seed=seed,
            device=device,
            source=source,
        )
        steps = CoresetSettings().steps
        chosen = train_and_choose(ImageCoreset(problem, "herding", per_class, steps=steps, network=network))
        return Images(torch.cat(chosen), torch.arange(len(chosen)).repeat_interleave(per_class))

    return for_each_network(name, choose)
