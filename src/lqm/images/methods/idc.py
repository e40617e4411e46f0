"""IDC: gradient matching of mosaics, under networks that train on the real images between the updates."""

from pydantic.dataclasses import dataclass

from lqm.images.experts import ExpertSettings
from lqm.images.methods.gradients import GradientDistance
from lqm.images.methods.settings import MosaicSettings
from lqm.images.problem import ImageProblem
from lqm.images.real import class_by_class
from lqm.images.synthetic import SyntheticImages
from lqm.images.trained import TrainedOnReal
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.gradients import GradientMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.utils.settings import Count, Positive, Share


@dataclass(frozen=True, config={"extra": "forbid"})
class IDCSettings(MosaicSettings):
    """Kim et al. 2022, "Dataset condensation via efficient synthetic-data parameterization"; as its code.

    Attributes:
        steps: networks, each of which gives every class several updates.
        learning_rate: 0.0005 times the images of a class in the paper, so 0.005 for 10.
        outer: updates of each class under one network.
        synthetic_batch: cells of a class in an update, drawn at random if it has more.
        gradient_distance: squared differences of the weights of convolutions, absolute ones for MNIST.
        train_images: real images that the network learns from between two updates.
        train_batch: how many of them in a step.
        cutmix: the probability that such a batch is mixed by CutMix.
    """

    steps: Count = 2_000
    learning_rate: Positive = 0.005
    real_batch: Count = 64
    outer: Count = 100
    synthetic_batch: Count = 128
    gradient_distance: GradientDistance = "conv-squared"
    train_images: Count = 2_000
    train_batch: Count = 64
    cutmix: Share = 0.5

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """Those that are differentiated once: real ones, as are those that the network learns from."""
        return 3.0 * (self.outer * classes * self.real_batch + (self.outer - 1) * self.train_images)

    def differentiated_twice(self, classes: int, per_class: int) -> int:
        """Images whose gradients are differentiated at once."""
        return max(self.real_batch, min(self.synthetic_batch, per_class * self.mosaic**2))


def build(problem: ImageProblem, settings: IDCSettings) -> Condensation:
    """At each step, match gradients class after class under a fresh network that learns from real images.

    S_c <- clip(S_c - rate * gradient of D(g(A(T_c)), g(A(S_c)))),  g = gradient of CE by the weights

    S_c are the cells of the class's mosaics, and A is color, crop and cutout, the same on both sides.
    """
    learning = ExpertSettings(
        network=settings.network,
        batch=settings.train_batch,
        augmentation="color-crop",
        cutmix=settings.cutmix,
    )
    encoders = TrainedOnReal(problem, learning, rounds=settings.outer, images=settings.train_images)
    real = class_by_class(problem, settings, settings.real_batch)
    objective = GradientMatching(settings.gradient_distance)
    targets = LiveTargets(encoders, real, objective, problem.seed, rounds=settings.outer)
    synthetic = SyntheticImages(problem, settings, settings.mosaic, at_most=settings.synthetic_batch)
    return Condensation(
        problem, synthetic, encoders, [Pass(objective, targets)], per_class=True, rounds=settings.outer
    )


IDC = MethodSpec(IDCSettings, build, matches=False)
