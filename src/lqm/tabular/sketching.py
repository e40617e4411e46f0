"""What a sketch of a table holds, and how a condensation reads it."""

from collections.abc import Callable, Collection
from typing import Any

from torch import Tensor

from lqm.banks import Sketch, stored_samples, summary
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.targets import SketchTargets
from lqm.tabular.encoders import FreshEncoders
from lqm.tabular.problem import TableProblem
from lqm.tabular.real import RealRows


class TableSketcher:
    """Makes the shards of a sketch, and the targets that a condensation takes from them.

    Args:
        problem: has the real rows.
        encoders: the random networks, whose weights the sketch keeps.
        real: the real rows that each of them sees.
        objective: what is compared.
    """

    chain = blocks = 1

    def __init__(
        self, problem: TableProblem, encoders: FreshEncoders, real: RealRows, objective: FeatureMatching
    ) -> None:
        self._problem, self._encoders, self._real, self._objective = problem, encoders, real, objective

    def require_memory(self, settings: Any) -> None:
        """The real rows come in chunks, so that they always fit."""

    def shard(
        self,
        n: int,
        before: Callable[[int], dict[str, Tensor]],
        size: int,
        blocks: Collection[int] | None = None,
    ) -> dict[str, Tensor]:
        """Encoder n, and a grid of at most `size` quantiles and the mean of each feature of each class."""
        weights = self._encoders.stored(n)
        tensors = {f"encoder.{name}": part for name, part in weights.items()}
        encoder = self._encoders.loaded(weights)
        for group in self._real.groups(n, self._real.draws(n)):
            for batch in group.batches:
                tensors |= summary(self._objective.samples(encoder, batch), batch.classes, size)
        return tensors

    def targets(self, sketch: Sketch) -> SketchTargets:
        """The targets that a condensation takes from a sketch."""
        return SketchTargets(
            sketch,
            self._objective,
            self._real.class_groups,
            encoder=lambda shard, n: self._encoders.loaded(shard.below("encoder")),
            transforms=lambda shard: (),
            samples=lambda shard, classes: stored_samples(
                shard, classes, self._objective.distances(1), self._problem.device
            ),
            seed=self._problem.seed,
        )
