"""M3D: matching by kernels, under a random network that is kept for several steps."""

from pydantic.dataclasses import dataclass

from lqm.images.encoders import FreshEncoders
from lqm.images.methods.settings import MosaicSettings
from lqm.images.problem import ImageProblem
from lqm.images.real import class_by_class
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.utils.settings import Count, Positive


@dataclass(frozen=True, config={"extra": "forbid"})
class M3DSettings(MosaicSettings):
    """Zhang et al. 2024, "M3D: dataset condensation by minimizing maximum mean discrepancy"; as its code.

    Attributes:
        learning_rate: ours; the paper's belongs to a loss of another scale.
        kept: steps under one network.
        synthetic_batch: cells of a class in an update, drawn at random if it has more.
    """

    steps: Count = 10_000
    learning_rate: Positive = 0.2
    real_batch: Count = 128
    kept: Count = 5
    synthetic_batch: Count = 200

    def images_per_step(self, classes: int, records: int, *, live: bool) -> float:
        """No more than are in an update."""
        return super().images_per_step(classes, min(records, self.synthetic_batch), live=live)


def build(problem: ImageProblem, settings: M3DSettings) -> Condensation:
    """At each step, match class after class under a random network that is another one every `kept` steps.

    S_c <- clip(S_c - rate * gradient of D(phi(A(T_c)), phi(A(S_c)))),  D = the kernel distance

    S_c are the cells of the class's mosaics, and A is color, crop and cutout, the same on both sides.
    """
    encoders = FreshEncoders(problem, settings.network, kept=settings.kept)
    synthetic = SyntheticImages(problem, settings, settings.mosaic, at_most=settings.synthetic_batch)
    objective = FeatureMatching(problem.distance, synthetic.counts)
    real = class_by_class(problem, settings, settings.real_batch)
    targets = LiveTargets(encoders, real, objective, problem.seed)
    return Condensation(problem, synthetic, encoders, [Pass(objective, targets)], per_class=True)


M3D = MethodSpec(M3DSettings, build, distance="kernel")
