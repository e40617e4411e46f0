"""DC, DSA, DCC and DSAC: a network should learn from synthetic images what it learns from the real ones."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass

from lqm.images.methods.settings import Init, MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.images.real import RealImages, siamese
from lqm.images.synthetic import SyntheticImages
from lqm.images.trained import TrainedOnSynthetic
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.gradients import GradientMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.utils.effects import OnlyIf, Unless
from lqm.utils.settings import Count, Positive

GradientDistance = Literal["row-cosine", "squared", "cosine", "conv-squared", "conv-absolute"]
Granularity = Literal["class", "sum"]
Steps = Annotated[int, Field(ge=0)]

# Images a class: updates of S under one network, and epochs of that network on S between two of them.
_LOOPS = {
    "class": {1: (1, 1), 10: (10, 50), 20: (20, 25), 30: (30, 20), 40: (40, 15), 50: (50, 10)},
    "sum": {1: (10, 5), 10: (10, 50), 50: (50, 10)},
}
# Updates of a step in the warm-up that compare class by class; those that follow in it compare the sum.
_WARM_UPDATES = 10


@dataclass(frozen=True, config={"extra": "forbid"})
class DCSettings(MatchingSettings):
    """Zhao, Mopuri & Bilen 2021, "Dataset condensation with gradient matching"; as its code.

    Attributes:
        steps: networks, each of which gives S several updates.
        outer: updates of S under one network; by the paper's table of images a class if not given.
        inner: epochs of the network on S between two updates; likewise.
        network_rate: of the network's SGD.
        train_batch: synthetic images in a step of that.
        gradient_distance: how gradients are compared: 1 - cosine, summed over the output rows of each
            weight; squared differences; 1 - cosine of all parameters as one vector; squared or absolute
            differences of the weights of convolutions.
        augmented: whether the images of a class undergo one operation, the same on both sides, and those
            that the network trains on one of their own.
        granularity: whether gradients are compared class by class, or the sum of those of all classes is.
        warm_up: steps at first whose first ten updates compare class by class in any case.
    """

    steps: Count = 1_000
    learning_rate: Positive = 0.1
    init: Init = "noise"
    outer: Count | None = None
    inner: Annotated[Count | None, Unless("outer", 1)] = None
    network_rate: Annotated[Positive, Unless("outer", 1)] = 0.01
    train_batch: Annotated[Count, Unless("outer", 1)] = 256
    gradient_distance: GradientDistance = "row-cosine"
    augmented: bool = False
    granularity: Granularity = "class"
    warm_up: Annotated[Steps, OnlyIf("granularity", "sum")] = 0

    def operations(self, allowed: Sequence[str]) -> list[str]:
        """All of them, or none."""
        return [*allowed] if self.augmented else []

    def loops(self, per_class: int) -> tuple[int, int]:
        """Outer and inner loops: as given, or those of the largest budget in the table that is not above."""
        table = _LOOPS[self.granularity]
        outer, inner = table[max(budget for budget in table if budget <= per_class)]
        return self.outer or outer, self.inner or inner

    def sums(self, step: int, update: int) -> bool:
        """Whether an update of a step compares the sum of the gradients of all classes."""
        warming = step < self.warm_up and update < _WARM_UPDATES
        return self.granularity == "sum" and not warming

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Those that are differentiated once: real ones, and synthetic ones that the network trains on."""
        outer, inner = self.loops(records)
        return 3.0 * classes * (outer * self.real_batch + (outer - 1) * inner * records)

    def differentiated_twice(self, classes: int, per_class: int) -> int:
        """Images whose gradients are differentiated at once."""
        return max(self.real_batch, per_class * (classes if self.granularity == "sum" else 1))


@dataclass(frozen=True, config={"extra": "forbid"})
class DSASettings(DCSettings):
    """Zhao & Bilen 2021, "Dataset condensation with differentiable siamese augmentation"; as its code."""

    init: Init = "random"
    augmented: bool = True


@dataclass(frozen=True, config={"extra": "forbid"})
class DCCSettings(DCSettings):
    """Lee et al. 2022, "Dataset condensation with contrastive signals"; as its code."""

    init: Init = "random"
    granularity: Granularity = "sum"
    warm_up: Steps = 250


@dataclass(frozen=True, config={"extra": "forbid"})
class DSACSettings(DCCSettings):
    """DCC with siamese augmentation; as the same code."""

    augmented: bool = True


def build(problem: ImageProblem, settings: DCSettings) -> Condensation:
    """At each step, match gradients under a fresh network that trains on S between the updates.

    S <- clip(S - rate * gradient of sum over groups G of classes of D(g(T_G), g(S_G)))

    g is the gradient of the mean CE by the weights, and a group is a class, or all of them.
    """
    outer, inner = settings.loops(problem.per_class)
    encoders = TrainedOnSynthetic(
        problem,
        settings.network,
        rounds=outer,
        epochs=inner,
        learning_rate=settings.network_rate,
        batch=settings.train_batch,
        augmented=settings.augmented,
    )

    def groups(n: int) -> list[Sequence[int]]:
        together = range(problem.classes)
        return [together] if settings.sums(*divmod(n, outer)) else [[label] for label in together]

    transform = siamese(problem) if settings.augmented else lambda draws: ()
    real = RealImages(problem, settings.real_batch, groups, transform)
    objective = GradientMatching(settings.gradient_distance)
    targets = LiveTargets(encoders, real, objective, problem.seed, rounds=outer)
    synthetic = SyntheticImages(problem, settings)
    return Condensation(problem, synthetic, encoders, [Pass(objective, targets)], rounds=outer)


DC, DSA, DCC, DSAC = (
    MethodSpec(settings, build, matches=False)
    for settings in (DCSettings, DSASettings, DCCSettings, DSACSettings)
)
