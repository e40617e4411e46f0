"""Coresets: real images, chosen by the features of a network that has learned a little from all of them."""

from typing import ClassVar, Literal

import torch
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine import Metrics
from lqm.engine.randomness import generator, seeded
from lqm.images.methods.result import as_condensed
from lqm.images.methods.settings import NetworkSpec
from lqm.images.networks import NetworkMaker, make_network
from lqm.images.sources import Images, ImageSource, pick
from lqm.images.students import Student, draw_real
from lqm.images.training import latent_features
from lqm.methods.rules import RULES
from lqm.utils.pixels import pixels
from lqm.utils.settings import Count


@dataclass(frozen=True, config={"extra": "forbid"})
class CoresetSettings:
    """How long the network learns whose features the rule looks at."""

    steps: Count = 200
    batch: Count = 256
    network: NetworkSpec = "convnet:width=32"


class Coreset:
    """Each step trains a network by one batch of real images; the result is what a rule chooses by it."""

    Settings: ClassVar[type] = CoresetSettings
    matches = False
    rule: ClassVar[str]

    def __init__(
        self,
        source: ImageSource,
        distance: object,
        per_class: int,
        seed: int,
        settings: CoresetSettings,
        device: torch.device,
        network: str | NetworkMaker | None = None,
    ) -> None:
        self._source, self._per_class, self._seed = source, per_class, seed
        self._settings, self._device = settings, device
        self.steps = settings.steps
        with seeded(seed, "coreset network"):
            made = make_network(network or settings.network, source.shape, len(source.class_names))
        self._student = Student(made.to(device))

    def step(self, i: int) -> Metrics:
        """Train the network by one batch."""
        draws = generator(self._seed, "coreset batch", i)
        with seeded(self._seed, "coreset forward", i):
            loss = self._student.learn(*draw_real(self._source, self._settings.batch, draws, self._device))
        return {"loss": loss, "network_accuracy": self._student.accuracy}

    def state(self) -> dict[str, Tensor]:
        """The network and its optimiser."""
        return self._student.state()

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up the network and its optimiser again."""
        self._student.load_state(state)

    def result(self) -> CondensedImages:
        """The chosen images."""
        return as_condensed(torch.stack(self.chosen()), self._source)

    def chosen(self) -> list[Tensor]:
        """The chosen labelled of each class, in [0, 1], fewer where the class has fewer."""
        labelled = []
        for label, images in enumerate(self._source.by_class):
            features = latent_features(self._student.network, images, self._source)
            draws = generator(self._seed, "coreset choice", label)
            count = min(self._per_class, len(images))
            labelled.append(pixels(images[RULES[self.rule](features, count, draws)]))
        return labelled


@dataclass(frozen=True, config={"extra": "forbid"})
class RandomSettings:
    """There is nothing to set: the one step does nothing."""

    steps: Literal[1] = 1


class Random:
    """Real images, each as likely as another: what every other method should beat."""

    Settings = RandomSettings
    matches = False

    def __init__(
        self,
        source: ImageSource,
        distance: object,
        per_class: int,
        seed: int,
        settings: RandomSettings,
        device: torch.device,
        network: NetworkMaker | None = None,
    ) -> None:
        self._source, self._per_class, self._seed = source, per_class, seed

    def step(self, i: int) -> Metrics:
        """Nothing is learned."""
        return {}

    def state(self) -> dict[str, Tensor]:
        """Nothing is kept."""
        return {}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Nothing is kept."""

    def result(self) -> CondensedImages:
        """Images of each class, without replacement."""
        chosen = random_images(self._source, self._per_class, self._seed, 0).images
        return as_condensed(pixels(chosen).unflatten(0, (-1, self._per_class)), self._source)


class Herding(Coreset):
    """The images whose mean feature stays nearest to that of the class."""

    rule = "herding"


class KCentre(Coreset):
    """The images that leave no other far from all of them."""

    rule = "k-centre"


class KMeans(Coreset):
    """The images nearest to the centroids of k-means."""

    rule = "k-means"


def random_images(source: ImageSource, per_class: int, seed: int, index: int) -> Images:
    """`per_class` real training labelled of each class, drawn without replacement."""
    draws = generator(seed, "random pictures", index)
    images = torch.cat([pick(labelled, per_class, draws) for labelled in source.by_class])
    return Images(images, torch.arange(len(source.class_names)).repeat_interleave(per_class))


def train_and_choose(chooser: Coreset) -> list[Tensor]:
    """What a coreset chooses of each class, after all of its steps at once."""
    for i in range(chooser.steps):
        chooser.step(i)
    return chooser.chosen()
