"""The real side of a step: what it leaves behind under one encoder, computed live, kept, or from a sketch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import torch

from lqm.banks import Shard, Sketch, encoder_of_step
from lqm.engine.randomness import generator, seeded
from lqm.methods.batch import Batch
from lqm.methods.encoders import Encoder, Encoders
from lqm.methods.objectives import Objective, Samples
from lqm.methods.objectives.features import FeatureMatching
from lqm.utils.errors import ConfigError


class GroupTarget(NamedTuple):
    """What an objective compares the synthetic records of some classes with.

    Attributes:
        classes: classes that are processed together.
        transforms: the augmentation of each class, which its synthetic records undergo too.
        target: what the objective made of the real records.
    """

    classes: Sequence[int]
    transforms: Sequence[Any]
    target: Any


@dataclass(frozen=True, eq=False)
class Target:
    """What the real side leaves behind under one encoder: all that an update needs of it.

    Attributes:
        in_use: a block in which it is compared; one from a file names that if it can't be.
    """

    encoder: Encoder
    groups: Sequence[GroupTarget]
    in_use: Callable[[], AbstractContextManager[None]] = nullcontext


class RealGroup(NamedTuple):
    """The real records of some classes for one step; several batches where one would take much memory."""

    classes: Sequence[int]
    transforms: Sequence[Any]
    batches: Iterator[Batch]


class Real(Protocol):
    """T: where the real records of a step come from."""

    def draws(self, n: int) -> torch.Generator:
        """The generator of everything random on the real side under encoder n."""
        ...

    def groups(self, n: int, draws: torch.Generator) -> Iterator[RealGroup]:
        """The real records for encoder n."""
        ...


class Targets(Protocol):
    """What gives each step its target."""

    def at(self, step: int, round_: int) -> Target:
        """The target for an update of a step."""
        ...

    def forget(self) -> None:
        """Drop everything kept, since another state was loaded."""
        ...


class LiveTargets:
    """Targets from the real data itself, with a window of the latest ones to draw from.

    A new target is made every `reuse` steps and each step draws one of the latest `window`, so that on
    average a target serves `reuse` steps. With 1 and 1, every step has a target of its own.

    Args:
        encoders: what looks at the real data.
        real: the real data.
        objective: makes the targets.
        seed: everything random follows from it.
        reuse: steps from one new target to the next.
        window: targets to draw from.
        rounds: updates of a step that each need a target of their own; 1 if they share it.
    """

    def __init__(
        self,
        encoders: Encoders,
        real: Real,
        objective: Objective,
        seed: int,
        *,
        reuse: int = 1,
        window: int = 1,
        rounds: int = 1,
    ) -> None:
        if (reuse > 1 or window > 1) and not encoders.replayable:
            raise ConfigError(
                "targets that serve several steps are made again after a resume, which needs encoders that "
                "depend on (seed, n) alone; give reuse = 1 and window = 1"
            )
        self._encoders, self._real, self._objective, self._seed = encoders, real, objective, seed
        self._reuse, self._window, self._rounds = reuse, window, rounds
        self._kept: dict[int, Target] = {}

    def at(self, step: int, round_: int) -> Target:
        """The target for an update; one that is missing after a run was resumed is made again, alike."""
        newest = step * self._rounds + (round_ if self._rounds > 1 else 0)
        newest //= self._reuse
        oldest = max(0, newest - self._window + 1)
        self._kept = {n: target for n, target in self._kept.items() if oldest <= n <= newest}
        drawn = oldest
        if newest > oldest:
            draws = generator(self._seed, "window", step)
            drawn += int(torch.randint(newest - oldest + 1, (), generator=draws))
        for n in (newest, drawn):
            if n not in self._kept:
                self._kept[n] = self._make(n)
        return self._kept[drawn]

    def forget(self) -> None:
        """Drop the window."""
        self._kept.clear()

    def _make(self, n: int) -> Target:
        # What a network draws by itself (dropout) is the same whenever a target is made.
        with seeded(self._seed, "view", n) if self._encoders.draws else nullcontext():
            encoder, draws = self._encoders.at(n), self._real.draws(n)
            groups = [
                GroupTarget(classes, transforms, self._objective.target(encoder, batches, draws))
                for classes, transforms, batches in self._real.groups(n, draws)
            ]
        return Target(encoder, groups)


class SketchTargets:
    """Targets from a sketch: its encoders in a random order, then in another.

    Args:
        sketch: holds, for each encoder, what it left behind of the real records.
        objective: makes a target of that.
        groups: classes that are processed together.
        encoder: the encoder of a shard.
        transforms: the augmentation of each class in a shard.
        samples: what stands for the real readouts of some classes in a shard.
        seed: of the order.
    """

    def __init__(
        self,
        sketch: Sketch,
        objective: FeatureMatching,
        groups: Sequence[Sequence[int]],
        *,
        encoder: Callable[[Shard, int], Encoder],
        transforms: Callable[[Shard], Sequence[Any]],
        samples: Callable[[Shard, Sequence[int]], Samples],
        seed: int,
    ) -> None:
        self._sketch, self._objective, self._groups, self._seed = sketch, objective, groups, seed
        self._encoder, self._transforms, self._samples = encoder, transforms, samples

    def at(self, step: int, round_: int) -> Target:
        """The target of the encoder that a step draws."""
        n = encoder_of_step(self._seed, step, self._sketch.encoders)
        shard = self._sketch[n]
        with shard.in_use():
            encoder, transforms = self._encoder(shard, n), self._transforms(shard)
            known = [
                (
                    classes,
                    [transforms[label] for label in classes] if transforms else (),
                    self._samples(shard, classes),
                )
                for classes in self._groups
            ]
        return Target(
            encoder,
            [GroupTarget(classes, own, self._objective.match([(classes, s)])) for classes, own, s in known],
            shard.in_use,
        )

    def forget(self) -> None:
        """Nothing is kept."""
