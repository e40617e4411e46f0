"""DM for tables: distribution matching with a fresh random MLP at every step."""

from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets
from lqm.tabular.encoders import FreshEncoders
from lqm.tabular.networks import check_encoder
from lqm.tabular.problem import TableProblem
from lqm.tabular.real import RealRows
from lqm.tabular.sketching import TableSketcher
from lqm.tabular.synthetic import Init, SyntheticRows
from lqm.utils.settings import Count, Positive


@dataclass(frozen=True, config={"extra": "forbid"})
class DMSettings:
    """Zhao & Bilen 2023, "Dataset condensation with distribution matching", for rows in place of images.

    Attributes:
        steps: random networks, one a step.
        learning_rate: Adam's, of standardised features.
        real_batch: real rows of each class in a step; 0 for all of them.
        init: the real rows, or the noise, that the synthetic ones are at first.
        network: such as `mlp:width=64`. The features of tanh are bounded, so that a few outliers of a
            table, or a pixel that is rarely set, do not outweigh all other rows.
    """

    steps: Count = 500
    learning_rate: Positive = 0.03
    real_batch: Annotated[int, Field(ge=0)] = 256
    init: Init = "random"
    network: Annotated[str, AfterValidator(check_encoder)] = "mlp:depth=1:activation=tanh"


def build(problem: TableProblem, settings: DMSettings) -> Condensation:
    """At each step, match every class's features under one fresh random network.

    S <- clip(Adam(S, gradient of sum over classes of D(phi(T_c), phi(S_c))))
    """
    synthetic = SyntheticRows(problem, settings.init, settings.learning_rate)
    objective = FeatureMatching(problem.distance, problem.counts)
    encoders = FreshEncoders(problem, settings.network)
    real = RealRows(problem, settings.real_batch)
    sketcher = TableSketcher(problem, encoders, real, objective)
    targets = (
        sketcher.targets(problem.sketch)
        if problem.sketch
        else LiveTargets(encoders, real, objective, problem.seed)
    )
    return Condensation(problem, synthetic, encoders, [Pass(objective, targets)], sketcher=sketcher)


DM = MethodSpec(DMSettings, build, sketch_settings=("network", "real_batch"))
