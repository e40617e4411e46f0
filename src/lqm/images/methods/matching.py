"""What methods share that match real and synthetic pictures: S itself, how it moves, and pairs of batches."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from lqm.condensed import CondensedPictures
from lqm.condensed.mosaic import compose, expand
from lqm.distances import Distance, class_losses, class_targets
from lqm.engine import Metrics
from lqm.engine.randomness import generator, seeded
from lqm.errors import DivergedError
from lqm.images.augment import augment, draw
from lqm.images.methods.coreset import Coreset, CoresetSettings, Herding, KCentre, KMeans, train_and_choose
from lqm.images.methods.result import as_condensed
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Network, NetworkMaker, make_network
from lqm.images.sources import ImageSource, pick

_STARTS: dict[str, type[Coreset]] = {kind.rule: kind for kind in (Herding, KCentre, KMeans)}


class Batches(NamedTuple):
    """Normalised pictures of some classes, each class under one transform of its own.

    Attributes:
        real: [sum of sizes, C, H, W], class after class.
        sizes: real pictures of each class.
        synthetic: [classes * k, C, H, W], class after class.
    """

    real: Tensor
    sizes: list[int]
    synthetic: Tensor


class Matching(ABC):
    """Synthetic pictures, and the optimiser that moves them; a method adds the update.

    The pictures are kept normalised, and clipped to legal pixels after each update: what is matched is then
    what the user gets. They are made when they are first needed, so that a run that is taken up again
    does not choose its start anew.

    Args:
        network: a factory of the user's own, in place of the one in the settings.
    """

    matches = True

    def __init__(
        self,
        source: ImageSource,
        distance: Distance,
        per_class: int,
        seed: int,
        settings: MatchingSettings,
        device: torch.device,
        network: NetworkMaker | None = None,
    ) -> None:
        self.source, self.distance, self.per_class = source, distance, per_class
        self.seed, self.settings, self.device = seed, settings, device
        self.classes = len(source.class_names)
        self._network = network or settings.network
        self._low, self._high = (source.normalised(torch.full((1, 1), v)).to(device) for v in (0.0, 1.0))
        self._pictures: Tensor | None = None
        self._chosen: list[Tensor] | None = None
        self.check(self.fresh_network("check", 0))

    def check(self, network: Network) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse a network that the method can't use."""

    def step(self, i: int) -> Metrics:
        """Update i; what a network draws by itself (dropout) follows from the seed and i too."""
        with seeded(self.seed, "forward", i):
            return self.update(i)

    @abstractmethod
    def update(self, i: int) -> Metrics:
        """One update of the synthetic pictures, or one for each class."""

    @property
    def mosaic(self) -> int:
        """Pictures in a row and in a column of each synthetic one."""
        return 1

    @property
    def records(self) -> int:
        """Synthetic records of each class: its pictures, or all cells of these."""
        return self.per_class * self.mosaic**2

    def fresh_network(self, purpose: str, index: int) -> Network:
        """A network with weights of its own for each (purpose, index)."""
        with seeded(self.seed, purpose, index):
            network = make_network(self._network, self.source.shape, self.classes)
        return network.to(self.device)

    def batches(self, classes: Sequence[int], draws: torch.Generator) -> Batches:
        """Real and synthetic pictures of some classes, alike transformed."""
        real, synthetic = [], []
        for label in classes:
            batch = pick(self.source.by_class[label], self.settings.real_batch, draws).to(self.device)
            record = draw(self.source.augmentation, draws)
            real.append(augment(self.source.normalised(batch), record))
            synthetic.append(augment(expand(self.pictures[label], self.mosaic), record))
        return Batches(torch.cat(real), [len(batch) for batch in real], torch.cat(synthetic))

    def compare(
        self, distance: Distance, real: Tensor, synthetic: Tensor, sizes: list[int], draws: torch.Generator
    ) -> Tensor:
        """Loss of each class, out of the features of both sides of `batches`."""
        targets = class_targets(distance, real.split(sizes), [self.records] * len(sizes), draws)
        return class_losses(distance, targets, synthetic.split(self.records))

    def descend(self, losses: Tensor, classes: Sequence[int]) -> None:
        """One update of all pictures along the gradient of the losses of these classes."""
        for label, loss in zip(classes, losses.tolist(), strict=True):
            if not math.isfinite(loss):
                raise DivergedError(f"the loss of class '{self.source.class_names[label]}' became {loss}")
        self._optimizer.zero_grad()
        losses.sum().backward()
        self._optimizer.step()
        with torch.no_grad():
            self.pictures.clamp_(self._low, self._high)

    @property
    def pictures(self) -> Tensor:
        """The synthetic pictures, normalised, [classes, per_class, C, H, W]."""
        if self._pictures is None:
            self._take(self._first_pictures())
        assert self._pictures is not None
        return self._pictures

    def _take(self, pictures: Tensor) -> None:
        self._pictures = pictures.to(self.device, copy=True).requires_grad_()
        self._optimizer = torch.optim.SGD(
            [self._pictures], lr=self.settings.learning_rate, momentum=self.settings.momentum
        )

    def start_chooser(self) -> Coreset:
        """The coreset that chooses the start; who lets it learn hands what it chose to `start_from`."""
        kind, settings = _STARTS[self.settings.start], CoresetSettings(steps=self.settings.start_steps)
        return kind(self.source, None, self.records, self.seed, settings, self.device, self._network)

    def start_from(self, chosen: list[Tensor]) -> None:
        """Begin with these pictures of each class, in [0, 1]."""
        self._chosen = chosen

    def state(self) -> dict[str, Tensor]:
        """Pictures and momentum."""
        images = {"images": self.pictures.detach()}
        momentum = self._optimizer.state[self.pictures].get("momentum_buffer")
        return images if momentum is None else images | {"momentum": momentum}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up pictures and momentum again."""
        self._take(state["images"])
        if "momentum" in state:
            momentum = state["momentum"].to(self.device, copy=True)
            self._optimizer.state[self.pictures]["momentum_buffer"] = momentum

    def result(self) -> CondensedPictures:
        """The pictures, back in pixels."""
        mean, std = (part.view(-1, 1, 1) for part in (self.source.mean, self.source.std))
        images = (self.pictures.detach().cpu() * std + mean).clamp(0, 1)
        return as_condensed(images, self.source, **({"mosaic": self.mosaic} if self.mosaic > 1 else {}))

    def _first_pictures(self) -> Tensor:
        """Noise, or real pictures of each class, as many in each as a mosaic has cells."""
        draws = generator(self.seed, "start")
        if self.settings.start == "noise":
            return torch.randn(self.classes, self.per_class, *self.source.shape, generator=draws)
        if self.settings.start == "random":
            chosen = [pick(images, self.records, draws) for images in self.source.by_class]
        else:
            chosen = self._chosen or train_and_choose(self.start_chooser())
        # A class that has too few pictures for all cells gives some of them twice.
        filled = [images[torch.arange(self.records) % len(images)] for images in chosen]
        return torch.stack([compose(self.source.normalised(images), self.mosaic) for images in filled])
