"""T in S* = argmin D(phi(T), phi(S)), of images: the real batches of a step."""

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor

from lqm.engine.randomness import generator
from lqm.images.augment import AugmentationParameters, augment, draw, draw_several
from lqm.images.methods.settings import MosaicSettings
from lqm.images.problem import ImageProblem
from lqm.images.sources import picked
from lqm.methods.batch import Batch
from lqm.methods.targets import RealGroup

# Draws the augmentation that the real and the synthetic images of a class share.
DrawTransform = Callable[[torch.Generator], Sequence[AugmentationParameters]]
ClassGroups = Sequence[Sequence[int]]


def siamese(problem: ImageProblem) -> DrawTransform:
    """One of the source's operations for each class (Zhao & Bilen 2021, DSA)."""
    return lambda draws: (draw(problem.source.augmentation, draws),)


class RealImages:
    """Real images of each class, drawn without replacement, under a transform of the class.

    Args:
        problem: has the images.
        size: how many of each class; 0 for transforms without images.
        class_groups: classes that are processed together, always or under encoder n.
        transform: draws the transform of a class.
        purpose: tells these draws from others.
        apart: whether the classes of a group are batches of their own, which takes less memory.
    """

    def __init__(
        self,
        problem: ImageProblem,
        size: int,
        class_groups: ClassGroups | Callable[[int], ClassGroups],
        transform: DrawTransform,
        purpose: str = "batch",
        *,
        apart: bool = False,
    ) -> None:
        self._problem, self._size, self._transform, self._purpose = problem, size, transform, purpose
        self._apart = apart
        self.groups_at = class_groups if callable(class_groups) else lambda n: class_groups

    def draws(self, n: int) -> torch.Generator:
        """The generator of batch n."""
        return generator(self._problem.seed, self._purpose, n)

    def groups(self, n: int, draws: torch.Generator) -> Iterator[RealGroup]:
        """The images for encoder n, group after group of classes."""
        source = self._problem.source
        for classes in self.groups_at(n):
            transforms, chosen = [], []
            for label in classes:
                if self._size:
                    chosen.append(picked(source.by_class[label], self._size, draws))
                transforms.append(self._transform(draws))
            yield RealGroup(classes, transforms, self._batches(classes, chosen, transforms))

    def _batches(
        self,
        classes: Sequence[int],
        chosen: Sequence[Tensor],
        transforms: Sequence[Sequence[AugmentationParameters]],
    ) -> Iterator[Batch]:
        """What was drawn for a group; images are read when a batch is asked for."""
        if not self._size:
            return
        source = self._problem.source
        shown = (
            augment(source.normalised(source.by_class[label][own].to(self._problem.device)), *drawn)
            for label, own, drawn in zip(classes, chosen, transforms, strict=True)
        )
        if self._apart:
            for label, images in zip(classes, shown, strict=True):
                yield Batch(images, [label], [len(images)])
        else:
            yield Batch(torch.cat([*shown]), classes, [len(own) for own in chosen])


def class_by_class(
    problem: ImageProblem, settings: MosaicSettings, size: int, purpose: str = "batch"
) -> RealImages:
    """One class after another, each under all operations of a method (Kim et al. 2022, IDC) or under one."""
    operations = settings.operations(problem.source.augmentation)
    one_by_one = [[label] for label in range(problem.classes)]

    def transform(draws: torch.Generator) -> Sequence[AugmentationParameters]:
        one = operations and settings.operations_at_once == "one"
        return [draw(operations, draws)] if one else draw_several(operations, draws)

    return RealImages(problem, size, one_by_one, transform, purpose)
