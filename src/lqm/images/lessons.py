"""S of trajectory matching: images with the rate, and perhaps the soft labels, to learn them by."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lqm.condensed import CondensedImages
from lqm.engine.randomness import generator
from lqm.images.augment import AugmentationParameters
from lqm.images.experts import last_networks
from lqm.images.networks import Network
from lqm.images.problem import ImageProblem
from lqm.images.synthetic import SyntheticImages
from lqm.images.training import logits_of
from lqm.methods.batch import Lesson
from lqm.methods.synthetic import Learnable

if TYPE_CHECKING:
    from lqm.images.methods.trajectories import MTTSettings

# A rate that is learned stays above this.
_LOWEST_RATE = 1e-8


class SyntheticLessons(SyntheticImages):
    """Images that are learned together with a rate, and with logits of their labels if these are soft.

    Where there is an exponential average of the images, the result is that.

    Args:
        problem: what they stand for, and the experts.
        settings: of the method.
    """

    def __init__(self, problem: ImageProblem, settings: "MTTSettings") -> None:
        super().__init__(problem, settings)
        self._lesson = settings
        self._rate = Learnable(
            "learning_rate",
            lambda: torch.tensor([settings.rate]),
            lambda rate: torch.optim.SGD([rate], lr=settings.rate_learning_rate, momentum=0.5),
            problem.device,
            moments="learning_rate.momentum",
            project=lambda rate: rate.clamp_(min=_LOWEST_RATE),
            shape=(1,),
        )
        self._logits = Learnable(
            "logits",
            self._first_logits,
            lambda logits: torch.optim.SGD([logits], lr=settings.label_learning_rate, momentum=0.9),
            problem.device,
            moments="logits.momentum",
            shape=(problem.classes * problem.per_class, problem.classes),
        )
        self._soft = settings.labels == "learned"
        self.learnables = [self._images, self._rate, *([self._logits] if self._soft else [])]
        self._average: Tensor | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """The rate as it is now."""
        return {"rate": self._rate.tensor.item()}

    def batch(
        self, classes: Sequence[int], transforms: Sequence[Sequence[AugmentationParameters]] = ()
    ) -> Lesson:
        """The images of all classes, with their labels and the rate."""
        shown = super().batch(classes, transforms)
        targets = self._logits.tensor.softmax(dim=1) if self._soft else shown.labels(self._problem.device)
        return Lesson(shown.inputs, shown.classes, shown.sizes, targets, self._rate.tensor)

    def update(self) -> None:
        """One update of everything that is learned, then of the average."""
        if not self._lesson.ema:
            super().update()
            return
        average = self._averaged().clone()
        super().update()
        self._average = average.lerp(self.images.detach(), 1 - self._lesson.ema)

    def state(self) -> dict[str, Tensor]:
        """What is learned, and the average of the images."""
        return super().state() | ({"average": self._averaged()} if self._lesson.ema else {})

    def load_state(self, state: dict[str, Tensor]) -> None:
        """Load that."""
        super().load_state(state)
        if self._lesson.ema:
            self._average = state["average"].to(self._problem.device, copy=True)

    def result(self) -> CondensedImages:
        """The images, back in legal pixels, with their rate and labels."""
        made = self._problem.condensed(self._pixels(self._averaged()))
        labels = self._logits.tensor.detach().softmax(dim=1).cpu() if self._soft else None
        return made.taught_by(self._rate.tensor.item(), labels)

    def _averaged(self) -> Tensor:
        """The average of the images, or else the images themselves."""
        return self.images.detach() if self._average is None else self._average

    def _experts(self) -> list[Network]:
        """The last snapshots of the experts."""
        return last_networks(self._problem, self._lesson.network, self._lesson.experts)

    def _init(self) -> Tensor:
        """As other images, but that random ones may be such as experts classify correctly."""
        if not (self._lesson.classified and self._lesson.init == "random"):
            return super()._init()
        draws, source = generator(self._problem.seed, "start"), self._problem.source
        networks, chosen = self._experts(), []
        for label, images in enumerate(source.by_class):
            order = torch.randperm(len(images), generator=draws)
            right = torch.zeros(len(images), dtype=torch.bool)
            for network in networks:
                if int(right.sum()) >= self._problem.per_class:
                    break
                right |= logits_of(network, images, source).argmax(dim=1).cpu() == label
            # Those that no expert classifies correctly come last.
            order = torch.cat([order[right[order]], order[~right[order]]])
            own = images[order[torch.arange(self._problem.per_class) % len(images)]]
            chosen.append(source.normalised(own))
        return torch.stack(chosen)

    def _first_logits(self) -> Tensor:
        """The mean logits of the experts that classify an image correctly, of all of them if none does."""
        shown = self.images.detach().flatten(0, 1)
        labels = torch.arange(self._problem.classes).repeat_interleave(self._problem.per_class)
        every = torch.stack([network(shown).detach().cpu() for network in self._experts()])
        right = (every.argmax(dim=2) == labels).float().unsqueeze(2)
        count = right.sum(dim=0)
        return torch.where(count > 0, (every * right).sum(dim=0) / count.clamp(min=1), every.mean(dim=0))
