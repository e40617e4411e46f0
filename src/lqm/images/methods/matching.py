"""What methods share that match real and synthetic images: S itself, how it moves, and views of T."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from lqm.banks import Sketch
from lqm.condensed import CondensedImages
from lqm.distances import Distance
from lqm.engine import Metrics
from lqm.engine.compute import Compute
from lqm.engine.randomness import seeded
from lqm.engine.window import Window
from lqm.images.augment import Record, augment, draw
from lqm.images.methods.settings import MatchingSettings
from lqm.images.methods.sketched import recalled
from lqm.images.methods.synthetic import SyntheticImages
from lqm.images.methods.views import Glance, View, losses_of, targets_of
from lqm.images.networks import (
    Embedding,
    Logits,
    Look,
    Network,
    NetworkMaker,
    Sight,
    by_batch,
    make_network,
    numbers_found,
    sights,
)
from lqm.images.sources import ImageSource, pick
from lqm.images.students import State, below
from lqm.utils.errors import DivergedError


class Matching(ABC):
    """Synthetic images that learn to look like real ones; a method says under which encoders.

    A step takes a view of the real images, which may serve several steps, and moves the synthetic ones
    towards it.

    Args:
        network: a factory of the user's own, in place of the one in the settings.
        compute: how networks are run.
    """

    Settings: ClassVar[type[Any]]
    matches = True
    # The settings on which a view depends, and those by which steps come to one; a sketch fixes them all.
    view_settings: ClassVar[tuple[str, ...]] = ("network", "real_batch")
    schedule_settings: ClassVar[tuple[str, ...]] = ("reuse", "window")
    # The gradient of a class never touches another, so a long list of classes may be gone through in turns.
    real_at_once: ClassVar[int] = 4096
    synthetic_at_once: ClassVar[int] = 512

    def __init__(
        self,
        source: ImageSource,
        distance: Distance,
        per_class: int,
        seed: int,
        settings: MatchingSettings,
        device: torch.device,
        network: NetworkMaker | None = None,
        compute: Compute | None = None,
    ) -> None:
        self.source, self.distance, self.per_class = source, distance, per_class
        self.seed, self.settings, self.device = seed, settings, device
        self.classes = len(source.class_names)
        self._network = network or settings.network
        self.own = SyntheticImages(source, per_class, self.mosaic, seed, settings, device, self._network)
        self._sketch: Sketch | None = None
        first = self.fresh_network("check", 0)
        self.sees_all_at_once = by_batch(first) and not self.one_by_one
        self.turns = self._turns()
        self.check(first)
        self._numbers = numbers_found(first, source.shape)
        self._kind = (repr(first), source.shape)
        self.run_by(compute or Compute())
        self.window = Window(self._view, reuse=settings.reuse, size=settings.window, seed=seed)

    def check(self, network: Network) -> None:  # noqa: B027 (most have nothing to refuse)
        """Refuse a network that the method can't use."""

    def recall_from(self, sketch: Sketch) -> None:
        """Take the views of a sketch, in place of looking at the real images, from now on."""
        self._sketch = sketch

    @property
    def sketched(self) -> bool:
        """Whether the views come from a sketch."""
        return self._sketch is not None

    def run_by(self, compute: Compute) -> None:
        """Run networks in this way from now on."""
        self.sights, self.answers = (sights(self._kind, look, compute) for look in (self.look, Logits))

    @property
    def numbers(self) -> float:
        """About how many numbers the layers of networks give in a step."""
        return self._numbers * self.images_seen

    @property
    def images_seen(self) -> float:
        """Images that go through a network in a step; those with gradients count three times."""
        real = 0.0 if self.sketched else self.settings.real_batch / self.settings.reuse
        return self.classes * (real + 3 * self.records)

    def step(self, i: int) -> Metrics:
        """Update i; what a network draws by itself (dropout) follows from the seed and i too."""
        with seeded(self.seed, "forward", i):
            view = recalled(self, self._sketch, i) if self._sketch else self.window.at(i)
            losses = self._descend(view)
            return {"loss": losses.mean().item(), **self.noticed(view)}

    @abstractmethod
    def make_view(self, number: int) -> View:
        """View number n of the real images, the same whenever it is made."""

    @property
    @abstractmethod
    def one_by_one(self) -> bool:
        """Whether each class has an update of its own."""

    @property
    def look(self) -> Look:
        """What an encoder is asked for: the latent features."""
        return Embedding

    def distances(self, parts: int) -> list[Distance]:
        """How each part of what an encoder finds is compared."""
        return [self.distance] * parts

    def losses(self, view: View, turn: int) -> Tensor:
        """The loss of each class of a turn, [C]."""
        found = view.sight(self.own.records(self.turns[turn], view.records))
        (losses,) = losses_of(self.distances(1), view.targets[turn], found, self.records)
        return losses

    def noticed(self, view: View) -> Metrics:
        """What there is to say of a step beside its loss."""
        return {}

    @property
    def mosaic(self) -> int:
        """Images in a row and in a column of each synthetic one."""
        return 1

    @property
    def records(self) -> int:
        """Synthetic records of each class: its images, or all cells of these."""
        return self.per_class * self.mosaic**2

    def fresh_network(self, purpose: str, index: int) -> Network:
        """A network with weights of its own for each (purpose, index)."""
        with seeded(self.seed, purpose, index):
            network = make_network(self._network, self.source.shape, self.classes)
        return network.to(self.device)

    def see(self, sight: Sight, draws: torch.Generator, accuracy: float = 0.0) -> View:
        """The view of a batch of real images of each class."""
        records: list[Record] = []
        targets = []
        for glance in self.glances(sight, draws):
            records += glance.records
            by = self.distances(len(glance.samples))
            targets.append(targets_of(by, glance.samples, self.records, draws))
        return View(sight, records, targets, accuracy)

    def glances(self, sight: Sight, draws: torch.Generator) -> Iterator[Glance]:
        """What an encoder finds in the real images, turn after turn; each class under its own transform."""
        for classes in self.turns:
            records, batches = [], []
            for label in classes:
                batch = pick(self.source.by_class[label], self.settings.real_batch, draws).to(self.device)
                records.append(draw(self.source.augmentation, draws))
                batches.append(augment(self.source.normalised(batch), records[-1]))
            found = sight.of_many(torch.cat(batches))
            sizes = [len(batch) for batch in batches]
            yield Glance(classes, records, [list(part.split(sizes)) for part in found])

    def encoder_state(self, number: int, before: Callable[[int], State]) -> State:
        """Encoder number n of a sketch: a fresh random network's weights.

        Args:
            number: which of them.
            before: the state of an earlier encoder of the same sketch.
        """
        weights = self.fresh_network("sketch", number).state_dict()
        return {f"weights.{name}": part for name, part in weights.items()}

    def encoder(self, state: State) -> tuple[Sight, float]:
        """The encoder of a sketch's state, and its accuracy."""
        network = self.fresh_network("sketch", 0)
        network.load_state_dict(below(state, "weights"))
        return self.sights.of(network.requires_grad_(False)), 0.0

    def _view(self, number: int) -> View:
        """View number n; what a network draws by itself (dropout) is the same whenever it is made."""
        with seeded(self.seed, "view", number):
            return self.make_view(number)

    def _turns(self) -> list[Sequence[int]]:
        """Classes that are gone through together: a few at a time where all would take much memory."""
        real = self.real_at_once // self.settings.real_batch
        together = max(1, min(real, self.synthetic_at_once // self.records))
        if self.one_by_one:
            together = 1
        elif self.sees_all_at_once:
            together = self.classes
        return [range(self.classes)[first : first + together] for first in range(0, self.classes, together)]

    def _descend(self, view: View) -> Tensor:
        """One update along the gradient of all classes' losses, or one for each class; gives the losses."""
        found = []
        for turn, classes in enumerate(self.turns):
            losses = self.losses(view, turn)
            for label, loss in zip(classes, losses.tolist(), strict=True):
                if not math.isfinite(loss):
                    raise DivergedError(f"the loss of class '{self.source.class_names[label]}' became {loss}")
            losses.sum().backward()
            found.append(losses.detach())
            if self.one_by_one or turn == len(self.turns) - 1:
                self.own.move()
        return torch.cat(found)

    @property
    def images(self) -> Tensor:
        """The synthetic images, normalised, [classes, per_class, C, H, W]."""
        return self.own.tensor

    def state(self) -> dict[str, Tensor]:
        """Images and momentum."""
        return self.own.state()

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up images and momentum again."""
        self.own.load_state(state)

    def result(self) -> CondensedImages:
        """The images, back in pixels."""
        return self.own.result()
