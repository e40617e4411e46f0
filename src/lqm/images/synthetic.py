"""S in S* = argmin D(phi(T), phi(S)), of images: their init, their updates, and the set the user gets."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.condensed.mosaic import expand
from lqm.images.augment import AugmentationParameters, augment
from lqm.images.inits import arranged, noise_init, random_images
from lqm.images.methods.coresets import ImageCoreset, train_and_choose
from lqm.images.methods.settings import MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.methods.batch import Batch
from lqm.methods.plan import Stage
from lqm.methods.rules import RULES
from lqm.methods.synthetic import Learnable, Synthetic
from lqm.utils.errors import ConfigError


class SyntheticImages(Synthetic):
    """Images that are learned by SGD, if nothing else is said.

    They are kept normalised, and clipped to legal pixels after each update, so that what is matched is what
    the user gets; or, as in most originals, only in the result.

    Args:
        problem: what they stand for.
        settings: their init, learning rate, momentum and clipping.
        mosaic: images in a row and in a column of each synthetic one.
        whole: whether a mosaic is one whole real image at first, in place of a real image in each cell.
        at_most: images of a class in a batch, drawn anew for each if there are more.
        rate: the learning rate of each step, if it is not always that of the settings.
        optimizer: makes an optimiser other than SGD.
        shares: gives the records of the result soft labels, [R, classes], by their pixels.
    """

    def __init__(
        self,
        problem: ImageProblem,
        settings: MatchingSettings,
        mosaic: int = 1,
        *,
        whole: bool = False,
        at_most: int | None = None,
        rate: Callable[[int], float] | None = None,
        optimizer: Callable[[Tensor], torch.optim.Optimizer] | None = None,
        shares: Callable[[Tensor], Tensor] | None = None,
    ) -> None:
        size = problem.source.shape[1]
        if mosaic > size // 2:
            raise ConfigError(
                f"mosaic = {mosaic} can't be used: images {size} pixels wide have room for {size // 2} cells "
                "of two pixels in a row"
            )
        self._problem, self._settings, self._mosaic = problem, settings, mosaic
        self._cells, self._at_most, self._shares = 1 if whole else mosaic, at_most, shares
        cells = [count * mosaic**2 for count in problem.counts]
        self.counts = [min(count, at_most) for count in cells] if at_most else cells
        if mosaic > 1 and problem.source.zca:
            raise ConfigError(
                f"mosaic = {mosaic} can't be used with zca, which whitens whole images; give mosaic = 1"
            )
        self._images = Learnable(
            "images",
            self._init,
            optimizer or self._sgd,
            problem.device,
            moments="images.{moment}" if optimizer else "momentum",
            project=self._clip if settings.clip == "each-update" else None,
            shape=(problem.classes, problem.per_class, *problem.source.shape),
            rate=rate,
        )
        self.learnables = [self._images]
        self._chosen: list[Tensor] | None = None

    @property
    def images(self) -> Tensor:
        """The images, normalised, [classes, per_class, C, H, W]."""
        return self._images.tensor

    def batch(
        self, classes: Sequence[int], transforms: Sequence[Sequence[AugmentationParameters]] = ()
    ) -> Batch:
        """The images of some classes, or the cells of mosaics, each class under its transform."""
        shown = [expand(self.images[label], self._mosaic) for label in classes]
        if self._at_most and len(shown[0]) > self._at_most:
            # A step seeds torch's own generator.
            shown = [own[torch.randperm(len(own))[: self._at_most]] for own in shown]
        if transforms:
            shown = [augment(own, *drawn) for own, drawn in zip(shown, transforms, strict=True)]
        return Batch(torch.cat(shown), classes, [len(own) for own in shown])

    def result(self) -> CondensedImages:
        """The images, back in legal pixels, with the soft labels of their records if they are to have any."""
        mosaic = {"mosaic": self._mosaic} if self._mosaic > 1 else {}
        made = self._problem.condensed(self._pixels(self.images), **mosaic)
        return made.taught_by(None, self._shares(made.records()[0])) if self._shares else made

    def _sgd(self, images: Tensor) -> torch.optim.Optimizer:
        settings = self._settings
        return torch.optim.SGD([images], lr=settings.learning_rate, momentum=settings.momentum)

    def _pixels(self, images: Tensor) -> Tensor:
        """Normalised images as legal pixels."""
        return self._problem.source.denormalised(images.detach().cpu()).clamp(0, 1)

    def _clip(self, images: Tensor) -> None:
        images.copy_(self._problem.source.clipped(images))

    def init_stage(self) -> Stage | None:
        """The choice of the init, if that takes steps of its own."""
        if self._settings.init not in RULES:
            return None
        coreset = self._coreset()

        def keep() -> None:
            self._chosen = coreset.chosen()

        return Stage(coreset, coreset.steps, f"init by {self._settings.init}", then=keep)

    def _coreset(self) -> ImageCoreset:
        """The coreset that chooses the init."""
        settings, count = self._settings, self._problem.per_class * self._cells**2
        return ImageCoreset(
            self._problem, settings.init, count, steps=settings.init_steps, network=settings.network
        )

    def _init(self) -> Tensor:
        """Noise, or real images of each class: one in each cell of a mosaic, or one in all of it."""
        source, per_class, seed = self._problem.source, self._problem.per_class, self._problem.seed
        if self._settings.init == "noise":
            return noise_init(source, per_class, seed)
        if self._settings.init == "random":
            chosen = random_images(source, per_class * self._cells**2, seed)
        else:
            chosen = self._chosen or train_and_choose(self._coreset())
        return arranged(source, chosen, per_class, self._cells)
