"""Coresets: real images, chosen by the features of a network that has learned a little from all of them."""

from functools import partial
from typing import Literal

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine import Metrics
from lqm.engine.randomness import generator, seeded
from lqm.images.methods.settings import NetworkSpec
from lqm.images.problem import ImageProblem
from lqm.images.sources import Images, ImageSource, pick
from lqm.images.students import Student, draw_real
from lqm.images.training import latent_features
from lqm.methods.chosen import Chosen
from lqm.methods.rules import RULES
from lqm.methods.samples import looked_at
from lqm.methods.spec import MethodSpec
from lqm.utils.pixels import pixels
from lqm.utils.settings import Count
from lqm.utils.stored_arrays import Part


@dataclass(frozen=True, config={"extra": "forbid"})
class CoresetSettings:
    """How long the network learns whose features the rule looks at."""

    steps: Count = 200
    batch: Count = 256
    network: NetworkSpec = "convnet:width=32"


@dataclass(frozen=True, config={"extra": "forbid"})
class RandomSettings:
    """There is nothing to set: the one step does nothing."""

    steps: Literal[1] = 1


class ImageCoreset:
    """Each step trains a network by one batch of real images; the result is what a rule chooses by it.

    Args:
        problem: has the images.
        rule: one of `RULES`.
        per_class: images to choose of each class, fewer where the class has fewer.
        steps: how long the network learns.
        batch: images of any class in a step.
        network: a spec, unless the problem has a network of the user's own.
    """

    def __init__(
        self,
        problem: ImageProblem,
        rule: str,
        per_class: int,
        *,
        steps: int,
        batch: int = CoresetSettings.batch,
        network: str = CoresetSettings.network,
    ) -> None:
        self._problem, self._rule, self._per_class = problem, rule, per_class
        self.steps, self._batch = steps, batch
        self._student = Student(problem.fresh_network(network, "coreset network", 0))

    def step(self, i: int) -> Metrics:
        """Train the network by one batch."""
        problem = self._problem
        draws = generator(problem.seed, "coreset batch", i)
        with seeded(problem.seed, "coreset forward", i):
            loss = self._student.learn(*draw_real(problem.source, self._batch, draws, problem.device))
        return {"loss": loss, "network_accuracy": self._student.accuracy}

    def state(self) -> dict[str, Tensor]:
        """The network and its optimiser."""
        return self._student.state()

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load the network and its optimiser."""
        self._student.load_state(state)

    def result(self) -> CondensedImages:
        """The chosen images."""
        return self._problem.condensed(torch.stack(self.chosen()))

    def chosen(self) -> list[Tensor]:
        """The chosen images of each class, in [0, 1]; of a class that is too large, among a sample of it."""
        source, chosen = self._problem.source, []
        for label, places in enumerate(source.train.places_by_class(self._problem.classes)):
            images = Part(source.train.images, looked_at(self._problem.seed, places))
            features = latent_features(self._student.network, images, source)
            draws = generator(self._problem.seed, "coreset choice", label)
            count = min(self._per_class, len(images))
            chosen.append(pixels(images[RULES[self._rule](features, count, draws)]))
        return chosen


def random_images(source: ImageSource, per_class: int, seed: int, index: int) -> Images:
    """`per_class` real training images of each class, drawn without replacement."""
    draws = generator(seed, "random pictures", index)
    images = torch.cat([pick(own, per_class, draws) for own in source.by_class])
    return Images(images, torch.arange(len(source.class_names)).repeat_interleave(per_class))


def train_and_choose(coreset: ImageCoreset) -> list[Tensor]:
    """What a coreset chooses of each class, after all of its steps at once."""
    for i in range(coreset.steps):
        coreset.step(i)
    return coreset.chosen()


def _random(problem: ImageProblem, settings: RandomSettings) -> Chosen:
    chosen = random_images(problem.source, problem.per_class, problem.seed, 0).images[:]
    images = pixels(chosen).unflatten(0, (-1, problem.per_class))
    return Chosen(lambda: problem.condensed(images))


def _by_rule(rule: str, problem: ImageProblem, settings: CoresetSettings) -> ImageCoreset:
    return ImageCoreset(
        problem,
        rule,
        problem.per_class,
        steps=settings.steps,
        batch=settings.batch,
        network=settings.network,
    )


CORESETS = {
    "random": MethodSpec(RandomSettings, _random, matches=False),
    **{rule: MethodSpec(CoresetSettings, partial(_by_rule, rule), matches=False) for rule in RULES},
}
