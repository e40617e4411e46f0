"""What a sketch of images holds, and how a condensation reads it."""

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import torch

from lqm.banks import Shard, Sketch, readouts_in, stored_samples, summary
from lqm.engine.randomness import generator, seeded
from lqm.images.augment import NUMBERS, OPERATIONS, AugmentationParameters
from lqm.images.methods.settings import MatchingSettings
from lqm.images.networks import Encoder
from lqm.images.problem import REAL_AT_ONCE, ImageProblem
from lqm.images.real import RealImages
from lqm.images.students import State
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.targets import SketchTargets
from lqm.utils.errors import ConfigError

_MOST_PARAMETERS = max(NUMBERS.values())


class StoredEncoders(Protocol):
    """Encoders that a sketch can hold; see `Sketcher` for what a chain of them is."""

    @property
    def chain(self) -> int:
        """How many follow from each other."""
        ...

    def stored(self, n: int, before: Callable[[int], State]) -> State:
        """What the sketch holds of encoder n; `before` gives what it holds of an earlier one."""
        ...

    def loaded(self, state: State) -> Encoder:
        """The encoder of that."""
        ...


class ImageSketcher:
    """Makes the shards of a sketch, and the targets that a condensation takes from them.

    Args:
        problem: has the real images.
        encoders: those of the sketch.
        real: the real images that each of them sees.
        objective: what is compared.
    """

    def __init__(
        self,
        problem: ImageProblem,
        encoders: StoredEncoders,
        real: RealImages,
        objective: FeatureMatching,
    ) -> None:
        self._problem, self._encoders, self._real, self._objective = problem, encoders, real, objective
        self.chain = encoders.chain

    def require_memory(self, settings: MatchingSettings) -> None:
        """Refuse to pass all real images through a network at once where that is needed but too much.

        Raises:
            ConfigError: with the largest batch that would do.
        """
        most = max(1, REAL_AT_ONCE // self._problem.classes)
        size = settings.real_batch
        if len(self._real.groups_at(0)[0]) * size > max(REAL_AT_ONCE, size):
            raise ConfigError(
                f"{settings.network} normalises by its batch, so all real images would have to go through it "
                f"at once; give --real-batch {most} or less"
            )

    @property
    def blocks(self) -> int:
        """How many groups of classes go through an encoder one after the other."""
        return len(self._real.groups_at(0))

    def shard(
        self, n: int, before: Callable[[int], State], size: int, blocks: Collection[int] | None = None
    ) -> State:
        """Encoder n, and a grid of at most `size` quantiles and the mean of each readout of each class."""
        transforms: list[AugmentationParameters] = []
        tensors: State = {}
        with seeded(self._problem.seed, "sketch forward", n):
            state = self._encoders.stored(n, before)
            encoder = self._encoders.loaded(state)
            draws = generator(self._problem.seed, "sketch batch", n)
            for number, group in enumerate(self._real.groups(n, draws)):
                transforms += [drawn for (drawn,) in group.transforms]
                for batch in group.batches if blocks is None or number in blocks else ():
                    samples = self._objective.samples(encoder, batch)
                    tensors |= summary(samples, batch.classes, size)
        numbers = torch.zeros(len(transforms), _MOST_PARAMETERS)
        for row, drawn in zip(numbers, transforms, strict=True):
            row[: NUMBERS[drawn.operation]] = drawn.parameters[0]
        operations = torch.tensor([OPERATIONS.index(drawn.operation) for drawn in transforms])
        encoder_state = {f"encoder.{name}": part for name, part in state.items()}
        augmentation = {"augmentation.operations": operations, "augmentation.numbers": numbers}
        return tensors | augmentation | encoder_state

    def targets(self, sketch: Sketch) -> SketchTargets:
        """The targets that a condensation takes from a sketch."""
        device = self._problem.device
        return SketchTargets(
            sketch,
            self._objective,
            self._real.groups_at(0),
            encoder=lambda shard, n: self._encoders.loaded(shard.below("encoder")),
            transforms=_transforms,
            samples=lambda shard, classes: stored_samples(
                shard, classes, self._objective.distances(readouts_in(shard)), device
            ),
            seed=self._problem.seed,
        )


def _transforms(shard: Shard) -> Sequence[Sequence[AugmentationParameters]]:
    """The transform of each class; ValueError if it can't be one."""
    operations, numbers = shard["augmentation.operations"], shard["augmentation.numbers"]
    if numbers.dtype != torch.float32 or not ((numbers >= 0) & (numbers < 1)).all():
        raise ValueError("'augmentation.numbers' should be float32 in [0, 1)")
    names = [OPERATIONS[number] for number in operations.tolist()]
    return [
        (AugmentationParameters(name, row[: NUMBERS[name]].unsqueeze(0)),)
        for name, row in zip(names, numbers, strict=True)
    ]
