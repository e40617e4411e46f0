"""Networks that learn from real images while a set is being made."""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from lqm.engine.compute import Compute
from lqm.images.networks import Logits, Network, Sights
from lqm.images.sources import ImageSource

State = dict[str, Tensor]


class Student:
    """A network, the optimiser that trains it, and how often it was right on what it has learned from.

    The optimiser is the field's: SGD at rate 0.01 with momentum 0.9 and weight decay 5e-4.
    """

    def __init__(self, network: Network, answers: Sights | None = None) -> None:
        self.network = network
        self._answer = (answers or Sights(Logits, Compute())).of(network.train())
        self._optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9, weight_decay=5e-4)
        self._right = self._seen = 0

    @property
    def accuracy(self) -> float:
        """Share of right answers on all batches so far, each before the step that it led to; 0 at first."""
        return self._right / self._seen if self._seen else 0.0

    def learn(self, images: Tensor, labels: Tensor) -> float:
        """One step on a batch of normalised images; gives the loss."""
        self.network.train()
        (logits,) = self._answer(images)
        loss = F.cross_entropy(logits, labels)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        self._right += int((logits.argmax(dim=1) == labels).sum())
        self._seen += len(labels)
        return loss.item()

    def snapshot(self) -> "Snapshot":
        """The student as it is now."""
        return Snapshot(copy.deepcopy(self.network).eval().requires_grad_(False), self.accuracy)

    def state(self) -> State:
        """Weights, momentum and the two counts."""
        momentum = {
            f"momentum.{name}": self._optimizer.state[parameter]["momentum_buffer"]
            for name, parameter in self.network.named_parameters()
            if "momentum_buffer" in self._optimizer.state[parameter]
        }
        # Copies, since layers that share a weight would else share memory in a file.
        weights = {f"weights.{name}": tensor.clone() for name, tensor in self.network.state_dict().items()}
        return weights | momentum | {"counts": torch.tensor([self._right, self._seen])}

    def load_state(self, state: State) -> None:
        """Take up weights, momentum and counts again."""
        self.network.load_state_dict(below(state, "weights"))
        buffers = below(state, "momentum")
        self._optimizer.state.clear()
        for name, parameter in self.network.named_parameters():
            if name in buffers:
                self._optimizer.state[parameter]["momentum_buffer"] = buffers[name].to(
                    parameter.device, copy=True
                )
        self._right, self._seen = state["counts"].tolist()


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A student as it was: its network, which learns no more, and its accuracy."""

    network: Network
    accuracy: float

    def state(self) -> State:
        """Weights and accuracy."""
        weights = {f"weights.{name}": tensor.clone() for name, tensor in self.network.state_dict().items()}
        return weights | {"accuracy": torch.tensor(self.accuracy, dtype=torch.float64)}

    @classmethod
    def load(cls, network: Network, state: State) -> "Snapshot":
        """The snapshot of a state, in a network of its kind."""
        network.load_state_dict(below(state, "weights"))
        return cls(network.eval().requires_grad_(False), state["accuracy"].item())


class StudentQueue:
    """IDM's queue: students of different age, the newest at the end (Zhao et al. 2023).

    Args:
        make: a fresh network; its argument counts the networks that were ever made.
        first: how many to begin with.
        limit: at this length the oldest goes before a new one comes.
        answers: how the networks are run.
    """

    def __init__(
        self, make: Callable[[int], Network], first: int, limit: int, answers: Sights | None = None
    ) -> None:
        self._make, self._limit, self._answers = make, limit, answers
        self._made = 0
        self.students: list[Student] = []
        for _ in range(first):
            self.push()

    def push(self) -> None:
        """Add a fresh student."""
        if len(self.students) == self._limit:
            self.students.pop(0)
        self.students.append(Student(self._make(self._made), self._answers))
        self._made += 1

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
        """Take up all students again."""
        places = {int(name.partition(".")[0]) for name in state if name != "made"}
        self.students = [Student(self._make(0), self._answers) for _ in places]
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
