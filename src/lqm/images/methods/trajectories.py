"""MTT, FTD, TESLA and DATM: a network that learns from the synthetic images should go the way of experts."""

from math import inf
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from lqm.images.experts import ExpertSettings
from lqm.images.lessons import SyntheticLessons
from lqm.images.methods.settings import MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.images.stretches import ExpertStretches
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.trajectory import TrajectoryMatching
from lqm.methods.spec import ExpertsNeeded, MethodSpec
from lqm.utils.effects import BANK, OnlyIf, Unless
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, NotNegative, Positive, Share

Epoch = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config={"extra": "forbid"})
class MTTSettings(MatchingSettings):
    """Cazenavette et al. 2022, "Dataset distillation by matching training trajectories"; CIFAR-10 at 10.

    Attributes:
        learning_rate: of the images.
        real_batch: real images in a step of the experts that are trained if no bank is given.
        classified: whether a random init is of real images that experts classify correctly.
        student_steps: of the student, N in the paper.
        student_batch: synthetic images in each of them; all if not given.
        expert_epochs: how long a stretch of an expert is, M in the paper.
        min_start: the first epoch at which a stretch may begin.
        max_start: the epoch before which it begins.
        first_max_start: the same at the first step, from which it grows to `max_start`.
        growth: steps until it has grown.
        rate: the student's at first; it is learned.
        rate_learning_rate: at which it is.
        gradient: `exact`, or `two-pass`, in memory that does not grow with the student's steps.
        ema: the share that an exponential average of the images, which is the result, keeps at each step.
        labels: `hard`, or `learned` as logits, which begin with those of experts.
        label_learning_rate: at which logits are learned.
        threshold: a loss above it leads to no update.
        experts: how many networks.
        expert_rate: of their SGD.
        expert_optimizer: `sgd`, or `gsam`, which prefers flat minima.
        expert_alpha: how much it minds the surrogate gap.
        zca: whether images are whitened for all networks, in place of being normalised by channel.
    """

    steps: Count = 5_000
    learning_rate: Positive = 100.0
    real_batch: Annotated[Count, Unless(BANK, True)] = 256
    classified: Annotated[bool, OnlyIf("init", "random")] = False
    student_steps: Count = 30
    student_batch: Count | None = None
    expert_epochs: Count = 2
    min_start: Epoch = 0
    max_start: Count = 20
    first_max_start: Count | None = None
    growth: Annotated[Count, Unless("first_max_start", None)] = 1_000
    rate: Positive = 0.001
    rate_learning_rate: NotNegative = 1e-5
    gradient: Literal["exact", "two-pass"] = "exact"
    ema: Share = 0.0
    labels: Literal["hard", "learned"] = "hard"
    label_learning_rate: Annotated[NotNegative, OnlyIf("labels", "learned")] = 2.0
    threshold: Positive | None = None
    experts: Count = 100
    expert_rate: Annotated[Positive, Unless(BANK, True)] = 0.01
    expert_optimizer: Annotated[Literal["sgd", "gsam"], Unless(BANK, True)] = "sgd"
    expert_alpha: Annotated[NotNegative, OnlyIf("expert_optimizer", "gsam"), Unless(BANK, True)] = 0.3
    zca: bool = True

    def __post_init__(self) -> None:
        """Refuse a range of starts that is empty at some step."""
        if self.min_start >= min(self.max_start, self.first_max_start or self.max_start):
            raise ConfigError(
                f"min_start = {self.min_start} leaves no epoch to begin at; "
                "it should be below max_start and first_max_start"
            )

    def starts(self, step: int) -> tuple[int, int]:
        """The first epoch at which the stretch of a step may begin, and the one before which it begins.

        Example:
            >>> settings = MTTSettings(first_max_start=10, max_start=20, growth=1000)
            >>> settings.starts(0), settings.starts(500), settings.starts(5000)
            ((0, 10), (0, 15), (0, 20))
        """
        first = self.max_start if self.first_max_start is None else self.first_max_start
        grown = first + (self.max_start - first) * min(step, self.growth) // self.growth
        return self.min_start, grown

    def differentiated_twice(self, classes: int, per_class: int) -> int:
        """Images whose gradients are differentiated at once: those of all steps, or of one."""
        batch = min(self.student_batch or classes * per_class, classes * per_class)
        return batch * (self.student_steps if self.gradient == "exact" else 1)


@dataclass(frozen=True, config={"extra": "forbid"})
class FTDSettings(MTTSettings):
    """Du et al. 2023, "Minimizing the accumulated trajectory error to improve dataset distillation"."""

    ema: Share = 0.9995
    expert_optimizer: Literal["sgd", "gsam"] = "gsam"


@dataclass(frozen=True, config={"extra": "forbid"})
class TESLASettings(MTTSettings):
    """Cui et al. 2023, "Scaling up dataset distillation to ImageNet-1K with constant memory"."""

    steps: Count = 10_000
    gradient: Literal["exact", "two-pass"] = "two-pass"


@dataclass(frozen=True, config={"extra": "forbid"})
class DATMSettings(MTTSettings):
    """Guo et al. 2024, "Towards lossless dataset distillation via difficulty-aligned trajectory matching"."""

    steps: Count = 10_000
    classified: bool = True
    student_steps: Count = 80
    student_batch: Count | None = 100
    first_max_start: Count | None = 10
    rate: Positive = 0.01
    labels: Literal["hard", "learned"] = "learned"
    threshold: Positive | None = 1.0
    expert_optimizer: Literal["sgd", "gsam"] = "gsam"


def build(problem: ImageProblem, settings: MTTSettings) -> Condensation:
    """At each step, let a student learn from S from where an expert was, and compare where both arrive.

    S <- clip(S - rate * gradient of |w_N - w*_{t+M}|^2 / |w*_t - w*_{t+M}|^2), w_0 = w*_t

    w* are an expert's weights by epoch. The student's rate, and soft labels, are learned likewise.
    """
    objective = TrajectoryMatching(two_pass=settings.gradient == "two-pass")
    part = Pass(objective, ExpertStretches(problem, settings), threshold=settings.threshold or inf)
    return Condensation(problem, SyntheticLessons(problem, settings), None, [part])


def _experts(settings: MTTSettings) -> ExpertsNeeded:
    training = ExpertSettings(
        network=settings.network,
        batch=settings.real_batch,
        learning_rate=settings.expert_rate,
        momentum=0.0,
        weight_decay=0.0,
        augmentation="dsa",
        optimizer=settings.expert_optimizer,
        alpha=settings.expert_alpha,
        zca=settings.zca,
    )
    epochs = settings.max_start - 1 + settings.expert_epochs
    return ExpertsNeeded(training, settings.experts, epochs, "experts", least_epochs=epochs)


MTT, FTD, TESLA, DATM = (
    MethodSpec(settings, build, matches=False, compiles=False, experts=_experts)
    for settings in (MTTSettings, FTDSettings, TESLASettings, DATMSettings)
)
