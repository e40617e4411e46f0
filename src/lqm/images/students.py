"""Networks that learn from real images while a set is being made."""

import copy
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.engine.optimizers import load_moments, save_moments
from lqm.images.flat import FlatGradients
from lqm.images.networks import EncoderFactory, Logits, Network
from lqm.images.sources import ImageSource

State = dict[str, Tensor]

_MOMENTUM = "momentum.{name}"


class Student:
    """A network, the optimiser that trains it, and how often it was right on what it has learned from.

    Args:
        network: the network.
        logits: how it is run.
        momentum: of SGD, which begins at a rate of 0.01; the default is the field's.
        weight_decay: the same.
        flat: what SGD gets in place of the gradients, if not these themselves.
    """

    def __init__(
        self,
        network: Network,
        logits: EncoderFactory | None = None,
        *,
        momentum: float = 0.9,
        weight_decay: float = 5e-4,
        flat: FlatGradients | None = None,
    ) -> None:
        self.network, self._flat = network, flat
        self._logits = (logits or EncoderFactory(Logits, Compute())).of(network.train())
        self._optimizer = torch.optim.SGD(
            network.parameters(), lr=0.01, momentum=momentum, weight_decay=weight_decay
        )
        self._right = self._seen = 0

    @property
    def accuracy(self) -> float:
        """Share of right answers on all batches since the meter was reset, 0 if there are none.

        Those on a batch are counted before the step that it leads to.
        """
        return self._right / self._seen if self._seen else 0.0

    def learn(self, images: Tensor, labels: Tensor) -> float:
        """One step on a batch of normalised images; gives the loss.

        Shapes: images [B, C, H, W]; labels [B], or the shares of each class, [B, classes].
        """
        self.network.train()
        (logits,) = self._logits.readouts(images)
        loss = F.cross_entropy(logits, labels)
        self._optimizer.zero_grad()
        loss.backward()
        if self._flat:
            self._flat.replace(
                self.network, lambda: F.cross_entropy(self._logits.readouts(images)[0], labels)
            )
        self._optimizer.step()
        wanted = labels.argmax(dim=1) if labels.is_floating_point() else labels
        self._right += int((logits.argmax(dim=1) == wanted).sum())
        self._seen += len(labels)
        return loss.item()

    def set_rate(self, learning_rate: float) -> None:
        """Learn at this rate from now on."""
        self._optimizer.param_groups[0]["lr"] = learning_rate

    def reset_meter(self) -> None:
        """Forget how often it was right."""
        self._right = self._seen = 0

    def snapshot(self) -> Network:
        """The network as it is now, which learns no more."""
        return copy.deepcopy(self.network).eval().requires_grad_(False)

    def state(self) -> State:
        """Weights, momentum and the two counts."""
        weights = {f"weights.{name}": tensor for name, tensor in self.network.state_dict().items()}
        momentum = save_moments(self._optimizer, dict(self.network.named_parameters()), _MOMENTUM)
        # Copies: the network may learn on, and layers that share a weight would else share memory in a file.
        copies = {name: tensor.clone() for name, tensor in (weights | momentum).items()}
        return copies | {"counts": torch.tensor([self._right, self._seen])}

    def load_state(self, state: State) -> None:
        """Load weights, momentum and counts."""
        self.network.load_state_dict(below(state, "weights"))
        load_moments(self._optimizer, dict(self.network.named_parameters()), _MOMENTUM, state)
        self._right, self._seen = state["counts"].tolist()


class StudentQueue:
    """IDM's queue: students of different age, the newest at the end (Zhao et al. 2023).

    Args:
        make: a fresh network; its argument counts the networks that were ever made.
        first: how many to begin with.
        limit: at this length the oldest goes before a new one comes.
        logits: how the networks are run.
    """

    def __init__(
        self, make: Callable[[int], Network], first: int, limit: int, logits: EncoderFactory | None = None
    ) -> None:
        self._make, self._limit, self._logits = make, limit, logits
        self._made = 0
        self.students: list[Student] = []
        for _ in range(first):
            self.push()

    def push(self) -> None:
        """Add a fresh student."""
        if len(self.students) == self._limit:
            self.students.pop(0)
        self.students.append(Student(self._make(self._made), self._logits))
        self._made += 1

    def reset_meters(self) -> None:
        """Let all students forget how often they were right."""
        for student in self.students:
            student.reset_meter()

    def draw(self, count: int, draws: torch.Generator) -> list[Student]:
        """Distinct students at random, all if there are no more."""
        return [self.students[j] for j in torch.randperm(len(self.students), generator=draws)[:count]]

    def state(self) -> State:
        """All students, and how many were ever made."""
        states = {
            f"{place}.{name}": tensor
            for place, student in enumerate(self.students)
            for name, tensor in student.state().items()
        }
        return states | {"made": torch.tensor(self._made)}

    def load_state(self, state: State) -> None:
        """Load all students."""
        places = {int(name.partition(".")[0]) for name in state if name != "made"}
        self.students = [Student(self._make(0), self._logits) for _ in places]
        for place, student in enumerate(self.students):
            student.load_state(below(state, str(place)))
        self._made = int(state["made"])


def draw_real(
    source: ImageSource, count: int, draws: torch.Generator, device: torch.device
) -> tuple[Tensor, Tensor]:
    """Normalised training images of any class, and their labels."""
    chosen = torch.randperm(len(source.train.labels), generator=draws)[:count]
    images = source.normalised(source.train.images[chosen].to(device))
    return images, source.train.labels[chosen].to(device)


def below(state: State, prefix: str) -> State:
    """The entries `prefix.name` of a state, by their name."""
    return {
        name.removeprefix(f"{prefix}."): tensor
        for name, tensor in state.items()
        if name.startswith(f"{prefix}.")
    }
