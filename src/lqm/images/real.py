"""T in S* = argmin D(phi(T), phi(S)), of images: the real batches of a step."""

from collections.abc import Callable, Iterator, Sequence

import torch

from lqm.engine.randomness import generator
from lqm.images.augment import AugmentationParameters, augment, draw
from lqm.images.problem import ImageProblem
from lqm.images.sources import pick
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
        source, device = self._problem.source, self._problem.device
        for classes in self.groups_at(n):
            transforms, batches = [], []
            for label in classes:
                if self._size:
                    batches.append(pick(source.by_class[label], self._size, draws).to(device))
                transforms.append(self._transform(draws))
            if not self._size:
                yield RealGroup(classes, transforms, iter(()))
                continue
            pairs = zip(batches, transforms, strict=True)
            shown = (augment(source.normalised(batch), *drawn) for batch, drawn in pairs)
            if self._apart:
                apart = zip(shown, classes, strict=True)
                yield RealGroup(classes, transforms, (Batch(own, [c], [len(own)]) for own, c in apart))
                continue
            sizes = [len(batch) for batch in batches]
            yield RealGroup(classes, transforms, iter([Batch(torch.cat(list(shown)), classes, sizes)]))
