"""S in S* = argmin D(phi(T), phi(S)): what is learned, and how it is updated, saved and handed over."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.engine.optimizers import load_moments, save_moments
from lqm.methods.batch import Batch
from lqm.methods.plan import Stage


class Learnable:
    """A tensor that is learned, with its optimiser and its projection.

    The tensor is made when it is first needed, so that a run which is resumed does not choose its init again.

    Args:
        name: its name in checkpoints.
        init: gives its first value.
        optimizer: makes the optimiser of a tensor.
        device: where it is.
        moments: the name of the optimiser's moments in checkpoints; see `save_moments`.
        project: brings the tensor back to what is legal, in place, after each update.
        restarts: whether the optimiser begins anew at each step.
        rate: the learning rate of each step, if it is not always the optimiser's.
        shape: which a checkpoint must have; any if it is not given.
    """

    def __init__(
        self,
        name: str,
        init: Callable[[], Tensor],
        optimizer: Callable[[Tensor], torch.optim.Optimizer],
        device: torch.device,
        *,
        moments: str,
        project: Callable[[Tensor], object] | None = None,
        restarts: bool = False,
        rate: Callable[[int], float] | None = None,
        shape: Sequence[int] | None = None,
    ) -> None:
        self._name, self._init, self._make_optimizer, self._device = name, init, optimizer, device
        self._moments, self._project, self._restarts, self._rate = moments, project, restarts, rate
        self._shape = None if shape is None else tuple(shape)
        self._tensor: Tensor | None = None

    @property
    def tensor(self) -> Tensor:
        """The tensor, a leaf that requires a gradient."""
        if self._tensor is None:
            self._set(self._init())
        assert self._tensor is not None
        return self._tensor

    def begin_step(self, step: int) -> None:
        """Restart the optimiser, and take the rate of the step, if that is to be done at each."""
        tensor = self.tensor
        if self._restarts:
            self._optimizer = self._make_optimizer(tensor)
        if self._rate:
            self._optimizer.param_groups[0]["lr"] = self._rate(step)

    def update(self) -> None:
        """One step of the optimiser along the accumulated gradient, then the projection."""
        self._optimizer.step()
        self._optimizer.zero_grad()
        if self._project:
            with torch.no_grad():
                self._project(self.tensor)

    def state(self) -> dict[str, Tensor]:
        """The tensor, and the moments of an optimiser that does not restart."""
        tensor = self.tensor
        own = {self._name: tensor.detach()}
        return own if self._restarts else own | save_moments(self._optimizer, {"": tensor}, self._moments)

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load the tensor and the moments; ValueError if they can't be those of this tensor."""
        found = state[self._name]
        if self._shape not in (None, found.shape) or found.dtype != torch.float32:
            raise ValueError(f"'{self._name}' is {found.dtype} {list(found.shape)}")
        self._set(found)
        load_moments(self._optimizer, {"": self.tensor}, self._moments, state)

    def _set(self, value: Tensor) -> None:
        self._tensor = value.to(self._device, copy=True).requires_grad_()
        self._optimizer = self._make_optimizer(self._tensor)


class Synthetic(ABC):
    """The synthetic set of a run.

    Attributes:
        learnables: what is learned.
        counts: records of each class that an encoder is shown; the cells of mosaics count.
    """

    learnables: Sequence[Learnable]
    counts: Sequence[int]

    @property
    def metrics(self) -> dict[str, float]:
        """What is worth logging about it."""
        return {}

    @abstractmethod
    def batch(self, classes: Sequence[int], transforms: Sequence[Any] = ()) -> Batch:
        """The records of some classes, each class under its transform if there are any."""

    @abstractmethod
    def result(self) -> CondensedSet:
        """The set as it is now."""

    def init_stage(self) -> Stage | None:
        """The choice of the init, if that takes steps of its own."""
        return None

    @property
    def leaves(self) -> list[Tensor]:
        """The tensors that are learned."""
        return [learnable.tensor for learnable in self.learnables]

    def begin_step(self, step: int) -> None:
        """Get ready for the updates of a step."""
        for learnable in self.learnables:
            learnable.begin_step(step)

    def update(self) -> None:
        """One update of everything that is learned."""
        for learnable in self.learnables:
            learnable.update()

    def state(self) -> dict[str, Tensor]:
        """Everything that is learned, with its moments."""
        return {name: part for learnable in self.learnables for name, part in learnable.state().items()}

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load everything that is learned."""
        for learnable in self.learnables:
            learnable.load_state(state)
