"""DC and DSA: a network should learn from the synthetic images what it learns from the real ones."""

from typing import Literal

from pydantic.dataclasses import dataclass

from lqm.images.encoders import TrainedOnSynthetic
from lqm.images.methods.settings import Init, MatchingSettings
from lqm.images.problem import ImageProblem
from lqm.images.real import RealImages, siamese
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.gradients import GradientMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.utils.settings import Count, Positive

# Images a class: updates of S under one network, and epochs of that network on S between two of them.
_LOOPS = {1: (1, 1), 10: (10, 50), 20: (20, 25), 30: (30, 20), 40: (40, 15), 50: (50, 10)}


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
            weight; squared differences; or 1 - cosine of all parameters as one vector.
    """

    steps: Count = 1_000
    learning_rate: Positive = 0.1
    init: Init = "noise"
    outer: Count | None = None
    inner: Count | None = None
    network_rate: Positive = 0.01
    train_batch: Count = 256
    gradient_distance: Literal["row-cosine", "squared", "cosine"] = "row-cosine"

    def loops(self, per_class: int) -> tuple[int, int]:
        """Outer and inner loops: as given, or those of the largest budget in the table that is not above."""
        outer, inner = _LOOPS[max(budget for budget in _LOOPS if budget <= per_class)]
        return self.outer or outer, self.inner or inner


@dataclass(frozen=True, config={"extra": "forbid"})
class DSASettings(DCSettings):
    """Zhao & Bilen 2021, "Dataset condensation with differentiable siamese augmentation"; as its code."""

    init: Init = "random"


def _build(problem: ImageProblem, settings: DCSettings, *, augmented: bool) -> Condensation:
    """At each step, match gradients under a fresh network that trains on S between the updates.

    S <- clip(S - rate * gradient of sum over classes of D(g(T_c), g(S_c))), g = gradient of CE by the weights
    """
    outer, inner = settings.loops(problem.per_class)
    encoders = TrainedOnSynthetic(
        problem,
        settings.network,
        rounds=outer,
        epochs=inner,
        learning_rate=settings.network_rate,
        batch=settings.train_batch,
        augmented=augmented,
    )
    one_by_one = [[label] for label in range(problem.classes)]
    transform = siamese(problem) if augmented else lambda draws: ()
    real = RealImages(problem, settings.real_batch, one_by_one, transform)
    objective = GradientMatching(settings.gradient_distance)
    targets = LiveTargets(encoders, real, objective, problem.seed, rounds=outer)
    synthetic = SyntheticImages(problem, settings)
    return Condensation(problem, synthetic, encoders, [Pass(objective, targets)], rounds=outer)


def build_dc(problem: ImageProblem, settings: DCSettings) -> Condensation:
    """Gradient matching without augmentation."""
    return _build(problem, settings, augmented=False)


def build_dsa(problem: ImageProblem, settings: DSASettings) -> Condensation:
    """Gradient matching under siamese augmentation."""
    return _build(problem, settings, augmented=True)


DC = MethodSpec(DCSettings, build_dc, matches=False, compiles=False)
DSA = MethodSpec(DSASettings, build_dsa, matches=False, compiles=False)
