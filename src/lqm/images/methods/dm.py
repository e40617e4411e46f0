"""DM: distribution matching with a fresh random network at every step."""

from pydantic.dataclasses import dataclass

from lqm.images.encoders import FreshEncoders
from lqm.images.methods.matching import match_readouts
from lqm.images.methods.settings import MatchingSettings, Update
from lqm.images.problem import ImageProblem
from lqm.images.synthetic import SyntheticImages
from lqm.methods.condensation import Condensation
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec


@dataclass(frozen=True, config={"extra": "forbid"})
class DMSettings(MatchingSettings):
    """Zhao & Bilen 2023, "Dataset condensation with distribution matching"; defaults are the paper's.

    Attributes:
        update: one update for the sum over all classes, or one after each class (which needs less memory).
    """

    update: Update = "summed"


def build(problem: ImageProblem, settings: DMSettings) -> Condensation:
    """At each step, match every class's features under one fresh random network and one shared transform.

    S <- clip(S - learning_rate * gradient of sum over classes of D(phi(A(T_c)), phi(A(S_c))))
    """
    synthetic = SyntheticImages(problem, settings)
    objective = FeatureMatching(problem.distance, synthetic.counts)
    encoders = FreshEncoders(problem, settings.network)
    per_class = settings.update == "per-class"
    return match_readouts(problem, settings, synthetic, objective, encoders, encoders, per_class=per_class)


DM = MethodSpec(DMSettings, build, sketch_settings=("network", "real_batch"))
