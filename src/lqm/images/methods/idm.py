"""IDM: distribution matching under networks that are learning, with several pictures in the place of one."""

from functools import cached_property

import torch
import torch.nn.functional as F  # noqa: N812
from pydantic.dataclasses import dataclass
from torch import Tensor

from lqm.engine import Metrics
from lqm.engine.randomness import generator
from lqm.errors import ConfigError
from lqm.images.methods.matching import Matching
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Network, embed_in_chunks
from lqm.images.students import Student, StudentQueue, below, draw_real
from lqm.settings import Count, NotNegative, Positive


@dataclass(frozen=True, config={"extra": "forbid"})
class IDMSettings(MatchingSettings):
    """Zhao et al. 2023, "Improved distribution matching for dataset condensation"; CIFAR-10 at 10 a class.

    Attributes:
        mosaic: pictures in a row and in a column of each synthetic one.
        class_weight: of the class-discriminative term, times the network's training accuracy in percent.
        queue_start: networks at first.
        queue_interval: steps from one new network to the next.
        queue_limit: networks at most; the oldest goes.
        students: networks that learn in each step.
        student_steps: how many batches each of them learns from.
        student_batch: real pictures of any class in such a batch.
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

    @property
    def mosaic(self) -> int:
        """Pictures in a row and in a column of each synthetic one."""
        return self.settings.mosaic

    def check(self, network: Network) -> None:
        """Refuse a mosaic that is finer than the pictures."""
        size = self.source.shape[1]
        if self.mosaic > size // 2:
            raise ConfigError(
                f"mosaic = {self.mosaic} can't be used: pictures {size} pixels wide have room for "
                f"{size // 2} cells of two pixels in a row"
            )

    @cached_property
    def _queue(self) -> StudentQueue:
        return StudentQueue(
            lambda made: self.fresh_network("queue", made),
            self.settings.queue_start,
            self.settings.queue_limit,
        )

    def update(self, i: int) -> Metrics:
        """One update for each class, then the training of some networks."""
        if i % self.settings.queue_interval == 0:
            self._queue.push()
        draws = generator(self.seed, "batch", i)
        (student,) = self._queue.draw(1, draws)
        accuracy = student.accuracy
        losses = torch.cat([self._match(student, label, draws) for label in range(self.classes)])
        for learner in self._queue.draw(self.settings.students, draws):
            for _ in range(self.settings.student_steps):
                learner.learn(*draw_real(self.source, self.settings.student_batch, draws, self.device))
        return {"loss": losses.mean().item(), "accuracy": accuracy}

    def _match(self, student: Student, label: int, draws: torch.Generator) -> Tensor:
        network = student.network.eval().requires_grad_(False)
        real, sizes, synthetic = self.batches([label], draws)
        features = network.embed(synthetic)
        losses = self.compare(self.distance, embed_in_chunks(network, real), features, sizes, draws)
        weight = self.settings.class_weight * 100 * student.accuracy
        if weight:
            wanted = torch.full((self.records,), label, device=self.device)
            losses = losses + weight * F.cross_entropy(network.classifier(features), wanted)
        self.descend(losses, [label])
        return losses.detach()

    def state(self) -> dict[str, Tensor]:
        """Pictures, momentum, and the whole queue."""
        return super().state() | {f"queue.{name}": part for name, part in self._queue.state().items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Take up pictures, momentum and the queue again."""
        super().load_state(state)
        self._queue.load_state(below(state, "queue"))
