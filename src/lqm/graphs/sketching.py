"""What a sketch of a graph holds, and how a condensation reads it."""

from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import Tensor

from lqm.banks import Shard, Sketch, stored_samples, summary
from lqm.graphs.encoders import Encoder, RandomEncoders
from lqm.graphs.problem import GraphProblem
from lqm.graphs.real import RealNodes
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.targets import SketchTargets
from lqm.utils.errors import ArtifactError

_STORED_WEIGHTS = 64


class GraphSketcher:
    """Makes the shards of a sketch, and the targets that a condensation takes from them.

    Encoders are drawn again from the seed of the sketch; a few weights prove that they are the same.

    Args:
        problem: has the real nodes.
        encoders: the random encoders, by seed and number.
        real: the real nodes.
        objective: what is compared.
    """

    chain = blocks = 1

    def __init__(
        self,
        problem: GraphProblem,
        encoders: RandomEncoders,
        real: RealNodes,
        objective: FeatureMatching,
    ) -> None:
        self._problem, self._encoders, self._real, self._objective = problem, encoders, real, objective

    def require_memory(self, settings: Any) -> None:
        """The real nodes come in chunks, so that they always fit."""

    def shard(
        self,
        n: int,
        before: Callable[[int], dict[str, Tensor]],
        size: int,
        blocks: Collection[int] | None = None,
    ) -> dict[str, Tensor]:
        """A few weights of encoder n, and a grid of at most `size` quantiles and the mean of each class."""
        encoder = self._encoders.at(n)
        tensors = {"weights": _few_weights(encoder)}
        for group in self._real.groups(n, self._real.draws(n)):
            for batch in group.batches:
                tensors |= summary(self._objective.samples(encoder, batch), batch.classes, size)
        return tensors

    def targets(self, sketch: Sketch) -> SketchTargets:
        """The targets that a condensation takes from a sketch."""

        def encoder(shard: Shard, n: int) -> Encoder:
            drawn = self._encoders.of_seed(sketch.config["seed"], n)
            require_same_weights(drawn, shard)
            return drawn

        return SketchTargets(
            sketch,
            self._objective,
            self._real.class_groups,
            encoder=encoder,
            transforms=lambda shard: (),
            samples=lambda shard, classes: stored_samples(
                shard, classes, self._objective.distances(1), self._problem.device
            ),
            seed=self._problem.seed,
        )


def require_same_weights(encoder: Encoder, shard: Shard) -> None:
    """Refuse an encoder that was not drawn alike when the sketch was made.

    Raises:
        ArtifactError: if its weights are others.
    """
    if not torch.equal(_few_weights(encoder).cpu(), shard["weights"]):
        raise ArtifactError(
            "this version of numpy draws other encoders than the one that made the sketch; make it again"
        )


def _few_weights(encoder: Encoder) -> Tensor:
    return encoder.weights[0].flatten()[:_STORED_WEIGHTS]
