"""A method as the engine runs it: a synthetic set, encoders, and one or more objectives."""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from lqm.condensed import CondensedSet
from lqm.engine import Metrics
from lqm.engine.randomness import seeded
from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoders
from lqm.methods.objectives import Loss
from lqm.methods.problem import Problem
from lqm.methods.synthetic import Synthetic
from lqm.methods.targets import Target, Targets
from lqm.utils.errors import DivergedError


@dataclass(frozen=True, eq=False)
class Pass:
    """One objective with the targets that it is given.

    Attributes:
        name: under which its loss is logged.
        threshold: above which a loss leads to no update.
    """

    objective: Loss
    targets: Targets
    name: str = "loss"
    threshold: float = math.inf


class Sketcher(Protocol):
    """Makes the shards of a sketch for a method.

    Attributes:
        chain: how many encoders follow from each other: encoder n from the one before it, unless `chain`
            divides n.
        blocks: of classes, each of which can be looked at apart from the others.
    """

    chain: int

    @property
    def blocks(self) -> int:
        """How many blocks of classes there are."""
        ...

    def shard(
        self,
        n: int,
        before: Callable[[int], dict[str, Tensor]],
        size: int,
        blocks: Collection[int] | None = None,
    ) -> dict[str, Tensor]:
        """Encoder n and at most `size` quantiles of each feature; `before` reads an earlier encoder.

        Of some `blocks` of classes only, if these are given: the union over all blocks is the whole shard.
        """
        ...

    def require_memory(self, settings: Any) -> None:
        """Refuse what would take too much memory."""
        ...


class Condensation:
    """At each step, one or more updates of S along the gradient of the objectives.

    S <- project(S - rate * gradient of sum over classes of loss_c)

    Args:
        problem: names the classes, and holds the seed.
        synthetic: S.
        encoders: whose state is part of the run's; None if they come from a sketch.
        passes: the objectives, one after another.
        per_class: one update after each group of classes, in place of one for the sum over all.
        rounds: updates of a step, at most: the encoders may end it earlier.
        sketcher: makes a sketch for the method, if it can use one.
    """

    def __init__(
        self,
        problem: Problem,
        synthetic: Synthetic,
        encoders: Encoders | None,
        passes: Sequence[Pass],
        *,
        per_class: bool = False,
        rounds: int = 1,
        sketcher: Sketcher | None = None,
    ) -> None:
        self.problem, self.synthetic, self.passes, self.sketcher = problem, synthetic, passes, sketcher
        self._encoders, self._per_class, self._rounds = encoders, per_class, rounds

    def step(self, i: int) -> Metrics:
        """Step i; what a network draws by itself (dropout) follows from the seed and i too."""
        metrics: dict[str, float] = {}
        with seeded(self.problem.seed, "forward", i):
            self.synthetic.begin_step(i)
            for round_ in range(self._rounds):
                for part in self.passes:
                    target = part.targets.at(i, round_)
                    losses = self._descend(part, target)
                    metrics |= {part.name: losses.mean().item(), **target.encoder.metrics}
                if self._encoders:
                    n = i * self._rounds + round_
                    self._encoders.after(n, self.synthetic)
                    if self._encoders.finished(n):
                        break
        return metrics | self.synthetic.metrics

    def _descend(self, part: Pass, target: Target) -> Tensor:
        """Update S once, or once for each group of classes; gives the loss of each class."""
        found = []
        for place, group in enumerate(target.groups):
            synthetic = self.synthetic.batch(group.classes, group.transforms)
            with target.in_use():
                losses = part.objective.loss(target.encoder, group.target, synthetic)
            self._require_finite(losses, synthetic)
            found.append(losses.detach())
            total = losses.sum()
            if part.threshold < math.inf and total > part.threshold:
                continue
            # The weights of a network that learns would else get gradients too, for nothing.
            total.backward(inputs=self.synthetic.leaves)
            if self._per_class or place == len(target.groups) - 1:
                self.synthetic.update()
        return torch.cat(found)

    def _require_finite(self, losses: Tensor, synthetic: Batch) -> None:
        """Refuse a loss that is no number; where classes share it, one whose records are none is named."""
        finite = losses.detach().isfinite()
        if finite.all():
            return
        if shared := len(losses) < len(synthetic.classes):
            finite = torch.stack(
                [own.isfinite().all() for own in synthetic.by_class(synthetic.inputs.detach())]
            )
        worst = int(finite.float().argmin())
        of = "" if finite.all() else f" of class '{self.problem.class_names[synthetic.classes[worst]]}'"
        raise DivergedError(f"the loss{of} became {losses[0 if shared else worst].item()}")

    def state(self) -> dict[str, Tensor]:
        """The synthetic set and its moments, and what the encoders depend on."""
        return self.synthetic.state() | (self._encoders.state() if self._encoders else {})

    def growth(self, steps: int) -> int:
        """Bytes by which the state may still grow until so many steps are made."""
        return self._encoders.growth(steps) if self._encoders else 0

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load a state."""
        self.synthetic.load_state(state)
        for part in self.passes:
            part.targets.forget()
        if self._encoders:
            self._encoders.load_state(state)

    def result(self) -> CondensedSet:
        """The set as it is now."""
        return self.synthetic.result()
