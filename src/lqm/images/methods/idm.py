"""IDM: distribution matching under networks that are learning, with several images in the place of one."""

from collections.abc import Callable
from functools import cached_property

import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.engine import Metrics
from lqm.engine.randomness import generator, seeded
from lqm.images.methods.matching import Matching
from lqm.images.methods.settings import MatchingSettings
from lqm.images.methods.views import View, losses_of
from lqm.images.networks import Network, Sight
from lqm.images.students import Snapshot, State, Student, StudentQueue, below, draw_real
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, NotNegative, Positive

# Of each network that learns for a sketch: encoders, and batches from one to the next. A network of the
# paper's queue learns from 600 batches in its life.
SNAPSHOTS, SPACING = 20, 30


@dataclass(frozen=True, config={"extra": "forbid"})
class IDMSettings(MatchingSettings):
    """Zhao et al. 2023, "Improved distribution matching for dataset condensation"; CIFAR-10 at 10 a class.

    Attributes:
        mosaic: images in a row and in a column of each synthetic one.
        class_weight: of the class-discriminative term, times the network's training accuracy in percent.
        queue_start: networks at first.
        queue_interval: views of the real images from one new network to the next.
        queue_limit: networks at most; the oldest goes.
        students: networks that learn after each view.
        student_steps: how many batches each of them learns from.
        student_batch: real images of any class in such a batch.
    """

    learning_rate: Positive = 0.2
    mosaic: Count = 2
    class_weight: NotNegative = 0.5
    queue_start: Count = 3
    queue_interval: Count = 30
    queue_limit: Count = 100
    students: Count = 2
    student_steps: Count = 10
    student_batch: Count = 256


class IDM(Matching):
    """At each step, match class after class under one network of the queue, then let some of them learn.

    loss of class c = D(phi(A(T_c)), phi(A(S_c))) + class_weight * 100 * accuracy * CE(network(A(S_c)), c)

    S_c are the cells of the class's mosaics, and accuracy is the network's own, on the batches that it has
    learned from. One optimiser holds all classes: the momentum of a class moves it on while the others have
    their turn.
    """

    Settings = IDMSettings
    settings: IDMSettings
    view_settings = (*Matching.view_settings, "student_batch")
    schedule_settings = (
        *Matching.schedule_settings,
        "queue_start",
        "queue_interval",
        "queue_limit",
        "students",
        "student_steps",
    )

    @property
    def mosaic(self) -> int:
        """Images in a row and in a column of each synthetic one."""
        return self.settings.mosaic

    def check(self, network: Network) -> None:
        """Refuse a mosaic that is finer than the images."""
        size = self.source.shape[1]
        if self.mosaic > size // 2:
            raise ConfigError(
                f"mosaic = {self.mosaic} can't be used: images {size} pixels wide have room for "
                f"{size // 2} cells of two pixels in a row"
            )

    @property
    def one_by_one(self) -> bool:
        """Always: each class moves before the next one looks."""
        return True

    @cached_property
    def _snapshots(self) -> dict[int, Snapshot]:
        """The networks of the window's views, as they were."""
        return {}

    @cached_property
    def _queue(self) -> StudentQueue:
        return StudentQueue(
            lambda made: self.fresh_network("queue", made),
            self.settings.queue_start,
            self.settings.queue_limit,
            self.answers,
        )

    @property
    def images_seen(self) -> float:
        """Those that networks learn from too."""
        options = self.settings
        learned = options.students * options.student_steps * options.student_batch / options.reuse
        return super().images_seen + (0.0 if self.sketched else 3 * learned)

    def make_view(self, number: int) -> View:
        """What one network of the queue sees; then some of them learn."""
        if number not in self._snapshots:
            self._snapshots = {n: s for n, s in self._snapshots.items() if n > number - self.settings.window}
            self._snapshots[number] = self._train(number)
        snapshot = self._snapshots[number]
        sight = self.sights.of(snapshot.network)
        return self.see(sight, generator(self.seed, "batch", number), snapshot.accuracy)

    def _train(self, number: int) -> Snapshot:
        """One network as it is, before those that are drawn learn."""
        if number % self.settings.queue_interval == 0:
            self._queue.push()
        draws = generator(self.seed, "students", number)
        (student,) = self._queue.draw(1, draws)
        snapshot = student.snapshot()
        for learner in self._queue.draw(self.settings.students, draws):
            for _ in range(self.settings.student_steps):
                learner.learn(*draw_real(self.source, self.settings.student_batch, draws, self.device))
        return snapshot

    def losses(self, view: View, turn: int) -> Tensor:
        """The loss of a turn's one class, [1]."""
        (label,) = self.turns[turn]
        (features,) = view.sight(self.own.records([label], view.records))
        (losses,) = losses_of([self.distance], view.targets[turn], [features], self.records)
        weight = self.settings.class_weight * 100 * view.accuracy
        if weight:
            wanted = torch.full((self.records,), label, device=self.device)
            losses = losses + weight * F.cross_entropy(view.sight.network.classifier(features), wanted)
        return losses

    def encoder_state(self, number: int, before: Callable[[int], State]) -> State:
        """Encoder number n of a sketch: networks learn one after another, and each gives several encoders."""
        trajectory, place = divmod(number, SNAPSHOTS)
        student = Student(self.fresh_network("trajectory", trajectory), self.answers)
        if place:
            student.load_state(before(number - 1))
            draws = generator(self.seed, "trajectory batches", number)
            with seeded(self.seed, "trajectory forward", number):
                for _ in range(SPACING):
                    student.learn(*draw_real(self.source, self.settings.student_batch, draws, self.device))
        return student.state()

    def encoder(self, state: State) -> tuple[Sight, float]:
        """The network as it was, and its accuracy on what it had learned from."""
        right, seen = state["counts"].tolist()
        network = self.fresh_network("sketch", 0).eval().requires_grad_(False)
        network.load_state_dict(below(state, "weights"))
        return self.sights.of(network), right / seen if seen else 0.0

    def noticed(self, view: View) -> Metrics:
        """How good the encoder is."""
        return {"network_accuracy": view.accuracy}

    def state(self) -> dict[str, Tensor]:
        """Images, momentum, the whole queue, and the networks as they were in the window's views."""
        if self.sketched:
            return super().state()
        queue = {f"queue.{name}": part for name, part in self._queue.state().items()}
        window = {
            f"window.{number}.{name}": part
            for number, snapshot in self._snapshots.items()
            for name, part in snapshot.state().items()
        }
        return super().state() | queue | window

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up images, momentum, the queue and the window again."""
        super().load_state(state)
        self.window.views.clear()
        if self.sketched:
            return
        self._queue.load_state(below(state, "queue"))
        window = below(state, "window")
        self._snapshots = {
            number: Snapshot.load(self.fresh_network("queue", 0), below(window, str(number)))
            for number in {int(name.partition(".")[0]) for name in window}
        }
