"""CaT and PUMA: synthetic nodes without edges, matched to what real nodes are after propagation."""

from typing import Annotated

from pydantic import Field
from pydantic.dataclasses import dataclass

from lqm.graphs.encoders import Activation, RandomEncoders
from lqm.graphs.problem import GraphProblem
from lqm.graphs.real import RealNodes
from lqm.graphs.sketching import GraphSketcher
from lqm.graphs.synthetic import Init, LengthsOf, SyntheticNodes
from lqm.methods.ahead import made_ahead
from lqm.methods.condensation import Condensation, Pass
from lqm.methods.objectives.features import FeatureMatching
from lqm.methods.spec import MethodSpec
from lqm.methods.targets import LiveTargets, Targets
from lqm.utils.settings import Count, Positive

Hops = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, config={"extra": "forbid"})
class CaTSettings:
    """Liu et al. 2023, "CaT: balanced continual graph learning with graph condensation".

    As its code, but for steps, learning rate and lengths, which were chosen on validation nodes of several
    graphs; the recipe `cat-paper` has the paper's.

    Attributes:
        steps: random encoders, one a step.
        learning_rate: Adam's, of the features.
        hops: how often the features of the real nodes are propagated, once and for all.
        width: of the encoder.
        depth: layers of the encoder.
        updates: of the synthetic nodes by each encoder; with more than one, each encoder has an Adam anew.
        real_batch: real nodes of each class in a step; 0 for all of them.
        init: the real nodes, or the noise, that the synthetic ones are at first.
        lengths: of the synthetic features: those of the real ones after propagation (`real`), or whatever the
            updates make of them (`free`), as in the paper's code. The learning rate is that of features of
            length 1, or of the features as they are.
        reuse: steps that an encoder serves, on average; 1 as in the paper.
        window: encoders that a step draws from, the latest ones.
    """

    steps: Count = 300
    learning_rate: Positive = 3e-3
    hops: Hops = 1
    width: Count = 512
    depth: Count = 1
    activation: Activation = "relu"
    updates: Count = 1
    real_batch: Annotated[int, Field(ge=0)] = 0
    init: Init = "random"
    lengths: LengthsOf = "real"
    reuse: Count = 1
    window: Count = 1


@dataclass(frozen=True, config={"extra": "forbid"})
class PUMASettings(CaTSettings):
    """Liu et al. 2024, "PUMA: efficient continual graph learning for node classification".

    As its code, but for the lengths; the recipe `puma-paper` has the paper's.
    """

    steps: Count = 100
    learning_rate: Positive = 1e-3
    width: Count = 4_096
    updates: Count = 10


def build(problem: GraphProblem, settings: CaTSettings) -> Condensation:
    """At each step, match every class's embeddings under one fresh random encoder.

    X' <- Adam(X', gradient of sum over classes of D(phi(A_hat^hops X_c), phi(X'_c)))

    The classes may be those of several tasks: each has nodes, losses and moments of its own, so none of them
    changes what another becomes, and they share the encoder.
    """
    synthetic = SyntheticNodes(
        problem, settings.init, settings.learning_rate, settings.lengths, restarts=settings.updates > 1
    )
    objective = FeatureMatching(problem.distance, problem.counts)
    encoders = RandomEncoders(problem.real.width, settings, problem.seed, problem.device)
    real = RealNodes(problem, settings.real_batch, settings.width)
    sketcher = GraphSketcher(problem, encoders, real, objective)
    targets: Targets
    if problem.sketch:
        targets = sketcher.targets(problem.sketch)
    else:
        live = LiveTargets(
            encoders, real, objective, problem.seed, reuse=settings.reuse, window=settings.window
        )
        # A step is small work that two cores can't share, but two steps they can.
        targets = made_ahead(live, settings.steps, problem.device)
    return Condensation(
        problem,
        synthetic,
        encoders,
        [Pass(objective, targets)],
        rounds=settings.updates,
        sketcher=sketcher,
    )


_SKETCHED = ("hops", "width", "depth", "activation", "real_batch")

CAT = MethodSpec(CaTSettings, build, sketch_settings=_SKETCHED, live_settings=("reuse", "window"))
PUMA = MethodSpec(PUMASettings, build, sketch_settings=_SKETCHED, live_settings=("reuse", "window"))
