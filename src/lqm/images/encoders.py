"""phi in S* = argmin D(phi(T), phi(S)), of images: where the networks come from that encode them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.images.experts import last_network
from lqm.images.networks import Embedding, Encoder, Logits, Readout
from lqm.images.problem import ImageProblem
from lqm.images.students import State, StudentQueue, below, draw_real
from lqm.methods.encoders import Encoders

if TYPE_CHECKING:
    from lqm.images.methods.idm import IDMSettings


class FreshEncoders(Encoders):
    """A fresh random network for each step (DM, DataDAM), or one that is kept for some steps (M3D)."""

    chain = 1

    def __init__(
        self, problem: ImageProblem, spec: str, readout: Readout = Embedding, *, kept: int = 1
    ) -> None:
        self._problem, self._spec, self._kept = problem, spec, kept
        self._factory = problem.encoder_factory(spec, readout)

    def at(self, n: int) -> Encoder:
        """Encoder number n."""
        network = self._problem.fresh_network(self._spec, "network", n // self._kept)
        return self._factory.of(network.requires_grad_(False))

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
        network = last_network(self._problem, self._spec, expert)
        if not self._last:
            share, begin = float(torch.rand((), generator=draws)), experts.snapshot(expert, 0)
            with begin.in_use():
                first, last = begin.below("weights"), network.state_dict()
                network.load_state_dict(interpolated(first, last, share))
        return self._factory.of(network)


def interpolated(first: dict[str, Tensor], last: dict[str, Tensor], share: float) -> dict[str, Tensor]:
    """Share * first + (1 - share) * last, weight by weight; whole numbers, such as counts, are the last's."""
    return {
        name: share * first[name] + (1 - share) * weight if weight.is_floating_point() else weight
        for name, weight in last.items()
    }
