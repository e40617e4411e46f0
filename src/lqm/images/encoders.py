"""phi in S* = argmin D(phi(T), phi(S)), of images: where the networks come from that encode them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from lqm.engine.randomness import generator
from lqm.images.augment import augment, draw
from lqm.images.experts import ExpertSettings, epoch
from lqm.images.networks import Embedding, Encoder, Logits, Readout
from lqm.images.problem import ImageProblem
from lqm.images.sources import pick
from lqm.images.students import State, Student, StudentQueue, below, draw_real
from lqm.methods.encoders import Encoders
from lqm.methods.synthetic import Synthetic

if TYPE_CHECKING:
    from lqm.images.methods.idm import IDMSettings

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
# Real images of each class by which batch norms take their statistics (DC).
_NORM_IMAGES = 16


class FreshEncoders(Encoders):
    """A fresh random network for each step (DM, DataDAM)."""

    def __init__(self, problem: ImageProblem, spec: str, readout: Readout = Embedding) -> None:
        self._problem, self._spec = problem, spec
        self._factory = problem.encoder_factory(spec, readout)

    def at(self, n: int) -> Encoder:
        """Encoder number n."""
        return self._factory.of(self._problem.fresh_network(self._spec, "network", n).requires_grad_(False))

    def stored(self, n: int, before: Callable[[int], State]) -> State:
        """The weights of encoder n of a sketch."""
        weights = self._problem.fresh_network(self._spec, "sketch", n).state_dict()
        return {f"weights.{name}": part for name, part in weights.items()}

    def loaded(self, state: State) -> Encoder:
        """The encoder of a sketch's weights."""
        network = self._problem.fresh_network(self._spec, "sketch", 0)
        network.load_state_dict(below(state, "weights"))
        return self._factory.of(network.requires_grad_(False))


class QueueEncoders(Encoders):
    """One network of a queue whose networks learn from real images after each step (IDM)."""

    replayable = False

    def __init__(self, problem: ImageProblem, settings: "IDMSettings") -> None:
        self._problem, self._settings = problem, settings
        self._factory = problem.encoder_factory(settings.network, Embedding)
        self._logits = problem.encoder_factory(settings.network, Logits)
        self._made: StudentQueue | None = None

    @property
    def _queue(self) -> StudentQueue:
        """The queue, which is made when it is first needed."""
        if self._made is None:
            self._made = StudentQueue(
                lambda made: self._problem.fresh_network(self._settings.network, "queue", made),
                self._settings.queue_start,
                self._settings.queue_limit,
                self._logits,
            )
        return self._made

    def at(self, n: int) -> Encoder:
        """One network of the queue as it is, before those that are drawn learn."""
        problem, settings = self._problem, self._settings
        if n and settings.meter_reset and n % settings.meter_reset == 0:
            self._queue.reset_meters()
        if n % settings.queue_interval == 0:
            self._queue.push()
        draws = generator(problem.seed, "students", n)
        (student,) = self._queue.draw(1, draws)
        encoder = self._factory.of(student.snapshot(), student.accuracy)
        for learner in self._queue.draw(settings.students, draws):
            for _ in range(settings.student_steps):
                learner.learn(*draw_real(problem.source, settings.student_batch, draws, problem.device))
        return encoder

    def state(self) -> State:
        """The whole queue."""
        return {f"queue.{name}": part for name, part in self._queue.state().items()}

    def growth(self, steps: int) -> int:
        """The networks that the queue has room for, and time."""
        settings, students = self._settings, self._queue.students
        most = min(settings.queue_limit, settings.queue_start + -(-steps // settings.queue_interval))
        return (most - len(students)) * sum(part.nbytes for part in students[0].state().values())

    def load_state(self, state: State) -> None:
        """Load the whole queue."""
        self._queue.load_state(below(state, "queue"))


class TrainedOnSynthetic(Encoders):
    """A fresh network for each step, which trains on S between the step's updates (DC, DSA).

    Args:
        problem: what is condensed.
        spec: of the network.
        rounds: updates of a step.
        epochs: of the network on S between two of them, by SGD without momentum.
        learning_rate: of that.
        batch: synthetic images in a step of that.
        augmented: whether each image has an augmentation of its own there.
    """

    replayable = False

    def __init__(
        self,
        problem: ImageProblem,
        spec: str,
        *,
        rounds: int,
        epochs: int,
        learning_rate: float,
        batch: int,
        augmented: bool,
    ) -> None:
        self._problem, self._spec, self._rounds, self._epochs = problem, spec, rounds, epochs
        self._learning_rate, self._batch, self._augmented = learning_rate, batch, augmented
        self._factory = problem.encoder_factory(spec, Logits)

    def at(self, n: int) -> Encoder:
        """The network of a step, fresh at its first update."""
        if n % self._rounds == 0:
            self._network = self._problem.fresh_network(self._spec, "network", n // self._rounds)
        self._freeze_norms(n)
        return self._factory.of(self._network)

    def after(self, n: int, synthetic: Synthetic) -> None:
        """Train on S as it is now, unless the next update has another network."""
        if (n + 1) % self._rounds == 0:
            return
        problem = self._problem
        draws = generator(problem.seed, "inner training", n)
        shown = synthetic.batch(range(problem.classes))
        images, labels = shown.inputs.detach(), shown.labels(problem.device)
        optimizer = torch.optim.SGD(self._network.train().parameters(), lr=self._learning_rate)
        for _ in range(self._epochs):
            for chosen in torch.randperm(len(labels), generator=draws).split(self._batch):
                batch = images[chosen]
                if self._augmented:
                    batch = augment(batch, draw(problem.source.augmentation, draws, rows=len(chosen)))
                optimizer.zero_grad()
                F.cross_entropy(self._network(batch), labels[chosen]).backward()
                optimizer.step()

    def _freeze_norms(self, n: int) -> None:
        """Batch norms see a few real images of each class, and keep their statistics for an update."""
        norms = [layer for layer in self._network.modules() if isinstance(layer, _BATCH_NORMS)]
        if norms:
            source, draws = self._problem.source, generator(self._problem.seed, "norm images", n)
            few = torch.cat([pick(images, _NORM_IMAGES, draws) for images in source.by_class])
            with torch.no_grad():
                self._network.train()(source.normalised(few.to(self._problem.device)))
            for layer in norms:
                layer.eval()


class TrainedOnReal(Encoders):
    """A fresh network for each step, which learns from real images between the step's updates (IDC).

    Args:
        problem: what is condensed.
        settings: of the learning, among them the network.
        rounds: updates of a step.
        images: that it learns from between two of them.
    """

    replayable = False

    def __init__(self, problem: ImageProblem, settings: ExpertSettings, *, rounds: int, images: int) -> None:
        self._problem, self._settings, self._rounds, self._images = problem, settings, rounds, images
        self._factory = problem.encoder_factory(settings.network, Logits)

    def at(self, n: int) -> Encoder:
        """The network of a step, fresh at its first update."""
        if n % self._rounds == 0:
            fresh = self._problem.fresh_network(self._settings.network, "network", n // self._rounds)
            self._student = Student(fresh, self._factory)
        return self._factory.of(self._student.network)

    def after(self, n: int, synthetic: Synthetic) -> None:
        """Learn from real images, unless the next update has another network."""
        if (n + 1) % self._rounds:
            draws = generator(self._problem.seed, "inner training", n)
            for images, labels in epoch(self._problem, self._settings, draws, self._images):
                self._student.learn(images, labels)


class InterpolatedEncoders(Encoders):
    """A mixture of an expert's first and last weights, drawn anew for each step (DANCE, NCFM).

    weights = l * first + (1 - l) * last, with l uniform in [0, 1)

    Args:
        problem: has the bank of experts.
        spec: of the networks.
        pairs: how many experts of the bank to use.
        readout: what the encoder is asked for.
        last: whether to give the last weights themselves.
    """

    def __init__(
        self,
        problem: ImageProblem,
        spec: str,
        pairs: int,
        readout: Readout = Embedding,
        *,
        last: bool = False,
    ) -> None:
        self._problem, self._spec, self._pairs, self._last = problem, spec, pairs, last
        self._factory = problem.encoder_factory(spec, readout)

    def at(self, n: int) -> Encoder:
        """The encoder of step n."""
        assert self._problem.experts is not None
        experts = self._problem.experts()
        draws = generator(self._problem.seed, "interpolation", n)
        expert = int(torch.randint(min(self._pairs, experts.networks), (), generator=draws))
        share = float(torch.rand((), generator=draws))
        begin, end = (experts.snapshot(expert, epoch) for epoch in (0, experts.epochs))
        network = self._problem.fresh_network(self._spec, "check", 0)
        with begin.in_use(), end.in_use():
            first, last = begin.below("weights"), end.below("weights")
            network.load_state_dict(last if self._last else interpolated(first, last, share))
        return self._factory.of(network.eval().requires_grad_(False))


def interpolated(first: dict[str, Tensor], last: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """Share * first + (1 - share) * last, weight by weight; whole numbers, such as counts, are the last's."""
    return {
        name: share * first[name] + (1 - share) * weight if weight.is_floating_point() else weight
        for name, weight in last.items()
    }
