"""What can be set about learning from a stream; names never meet those of a condensation's settings."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from lqm.graphs.networks import check_spec
from lqm.graphs.population import NodeFeatures
from lqm.utils.effects import Unless
from lqm.utils.names import choose
from lqm.utils.old_names import current_settings
from lqm.utils.settings import Count, NotNegative, Positive, make_settings

Probability = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, config={"extra": "forbid"})
class LearningSettings:
    """How a classifier goes through a stream; the defaults, of whole graphs, are those of CaT's code.

    Attributes:
        classifier: such as `gcn:width=256:depth=2`.
        epochs: steps of training at each task, each on all that is trained on.
        classifier_rate: learning rate of the classifier's Adam.
        classifier_decay: its weight decay.
        retrain: begin with a fresh classifier and a fresh Adam at every task (PUMA).
        edge_free: train without message passing, test with it (PUMA); it matters where edges are stored.
    """

    classifier: Annotated[str, AfterValidator(check_spec)] = "gcn:width=256:depth=2"
    epochs: Count = 500
    classifier_rate: Positive = 0.005
    classifier_decay: NotNegative = 5e-4
    retrain: bool = False
    edge_free: bool = False


@dataclass(frozen=True, config={"extra": "forbid"})
class FinetuningSettings(LearningSettings):
    """Of the classifier that sees each task once."""

    classifier_rate: Positive = 0.01


@dataclass(frozen=True, config={"extra": "forbid"})
class ReplaySettings(LearningSettings):
    """Of a classifier with a memory, chosen on validation nodes (docs/results.md, "Streams").

    A few nodes are learned in a moment, and what a network learns of them after that is of no use for others:
    so it is narrow, slow, and new at every task, and its predictions are averaged over 20 hops. The
    recipe `cat-paper` has the classifier of CaT's code.

    Attributes:
        train_in_memory: train on the memory of all tasks so far; if not, on the memory of those before and
            on the whole graph of the present one.
    """

    classifier: Annotated[str, AfterValidator(check_spec)] = "appnp:width=64:depth=2:hops=20:bias=false"
    classifier_rate: Positive = 1e-3
    retrain: bool = True
    train_in_memory: bool = True


@dataclass(frozen=True, config={"extra": "forbid"})
class CondensedReplaySettings(ReplaySettings):
    """Of a classifier with a condensed memory.

    Attributes:
        pseudo_labels: which nodes may join the real distribution of their task with a predicted class
            (PUMA): `none`, those for validation, or those to test with, whose own labels are never seen.
        pseudo_threshold: least probability of a prediction that is believed.
        pseudo_among: classes among which is predicted: all that were `seen` so far, where a node that is
            predicted to be of another task is left out (PUMA); or those of the `task`.
    """

    pseudo_labels: Literal["none", "validation", "test"] = "none"
    pseudo_threshold: Annotated[Probability, Unless("pseudo_labels", "none")] = 0.0
    pseudo_among: Annotated[Literal["seen", "task"], Unless("pseudo_labels", "none")] = "seen"


@dataclass(frozen=True, config={"extra": "forbid"})
class PUMAReplaySettings(CondensedReplaySettings):
    """Liu et al. 2024, "PUMA: efficient continual graph learning for node classification"; as its code.

    The classifier has no biases: training without edges applies the linear maps of its layers only, so that
    the biases of PUMA's code stay 0.
    """

    classifier: Annotated[str, AfterValidator(check_spec)] = "gcn:width=512:depth=3:bias=false"
    classifier_rate: Positive = 1e-3
    retrain: bool = True
    edge_free: bool = True


@dataclass(frozen=True, config={"extra": "forbid"})
class NoSettings:
    """Of a method without a memory."""


@dataclass(frozen=True, config={"extra": "forbid"})
class RealMemorySettings:
    """Of a memory of real nodes.

    Attributes:
        features: of a stored node, which leaves most of its neighbours behind: those that it has after one
            propagation in the task's graph, or its own.
    """

    features: NodeFeatures = "propagated"


@dataclass(frozen=True, config={"extra": "forbid"})
class SubgraphSettings(RealMemorySettings):
    """Of a sparsified subgraph memory.

    Attributes:
        neighbours: nodes around each stored one that are kept beside it, without a label and beyond the
            budget; 0 as in CaT's code.
    """

    neighbours: Annotated[int, Field(ge=0)] = 0


def divide_settings(values: Mapping[str, Any], kinds: Sequence[type[Any]]) -> list[Any]:
    """Settings of several kinds out of one dictionary; each name belongs to one of them.

    Raises:
        ConfigError: with the setting, and what would be right.
    """
    values = current_settings(values)
    own = [{field.name for field in fields(kind)} for kind in kinds]
    for name in values:
        choose(name, dict.fromkeys(sorted(set().union(*own))), "setting")
    return [
        make_settings(kind, {name: value for name, value in values.items() if name in names})
        for kind, names in zip(kinds, own, strict=True)
    ]
