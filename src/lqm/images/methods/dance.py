"""DANCE: matching under mixtures of fresh and trained networks, then calibration by the trained ones."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Literal

from pydantic.dataclasses import dataclass
from torch import Tensor
from torch.optim import Optimizer

from lqm.images.encoders import InterpolatedEncoders
from lqm.images.experts import ExpertSettings, expert_shares
from lqm.images.methods.settings import MosaicSettings
from lqm.images.networks import Logits
from lqm.images.problem import ImageProblem
from lqm.images.real import class_by_class
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives import Objective
from lqm.methods.objectives.cross_entropy import CrossEntropy
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import ExpertsNeeded, MethodSpec
from lqm.methods.synthetic import Learnable
from lqm.methods.targets import LiveTargets
from lqm.utils.effects import BANK, Unless
from lqm.utils.settings import Count, NotNegative, Positive, Share


@dataclass(frozen=True, config={"extra": "forbid"})
class DANCESettings(MosaicSettings):
    """Zhang et al. 2024, "DANCE: dual-view distribution alignment for dataset condensation"; as its code.

    Attributes:
        learning_rate: 0.01 times the images of a class in the paper, so 0.1 for 10.
        pairs: experts whose first and last weights are mixed.
        class_weight: of the cross-entropy of the expert's last weights.
        labels: `hard`, or `experts`: for each record, the shares of all classes that the experts see in it.
        expert_epochs: how long experts train, if no bank of them is given.
        expert_cutmix: the probability that a batch of theirs is mixed, if no bank of them is given.
    """

    steps: Count = 10_000
    learning_rate: Positive = 0.1
    real_batch: Count = 128
    pairs: Count = 5
    class_weight: NotNegative = 1.0
    labels: Literal["hard", "experts"] = "hard"
    expert_epochs: Annotated[Count, Unless(BANK, True)] = 60
    expert_cutmix: Annotated[Share, Unless(BANK, True)] = 0.5

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Those of both passes."""
        return super().images_per_step(classes, records, live=live) + 3 * classes * records


def build(
    problem: ImageProblem,
    settings: DANCESettings,
    optimizer: Callable[[Tensor], Optimizer] | None = None,
    beside: Sequence[Learnable] = (),
) -> Condensation:
    """At each step, match class after class under a mixed network, then calibrate class after class.

    The optimiser is SGD, if there is no other. What is learned `beside` the images is part of the distance.

    S_c <- S_c - rate * gradient of D(phi_l(A(T_c)), phi_l(A(S_c))),  phi_l = l * first + (1 - l) * last
    S_c <- S_c - rate * gradient of class_weight * CE(last(A(S_c)), c)
    """

    def targets(
        encoders: InterpolatedEncoders, objective: Objective, real_batch: int, purpose: str
    ) -> LiveTargets:
        real = class_by_class(problem, settings, real_batch, purpose)
        return LiveTargets(encoders, real, objective, problem.seed)

    shares = partial(expert_shares, problem, settings.network, settings.pairs)
    synthetic = SyntheticImages(
        problem,
        settings,
        settings.mosaic,
        optimizer=optimizer,
        shares=shares if settings.labels == "experts" else None,
    )
    synthetic.learnables = [*synthetic.learnables, *beside]
    mixed = InterpolatedEncoders(problem, settings.network, settings.pairs)
    last = InterpolatedEncoders(problem, settings.network, settings.pairs, Logits, last=True)
    match = FeatureMatching(problem.distance, synthetic.counts)
    calibrate = CrossEntropy(settings.class_weight)
    passes = [
        Pass(match, targets(mixed, match, settings.real_batch, "batch")),
        Pass(calibrate, targets(last, calibrate, 0, "calibration"), "calibration"),
    ]
    return Condensation(problem, synthetic, mixed, passes, per_class=True)


def _experts(settings: DANCESettings) -> ExpertsNeeded:
    training = ExpertSettings(
        network=settings.network,
        batch=64,
        schedule="fifths",
        augmentation="color-crop",
        cutmix=settings.expert_cutmix,
    )
    return ExpertsNeeded(training, settings.pairs, settings.expert_epochs, "pairs")


DANCE = MethodSpec(DANCESettings, build, experts=_experts)
