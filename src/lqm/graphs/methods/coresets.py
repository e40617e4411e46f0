"""Coresets: real nodes, chosen by their propagated features."""

from functools import partial
from typing import Literal

from pydantic.dataclasses import dataclass

from lqm.condensed import CondensedNodes
from lqm.graphs.methods.cat import Hops
from lqm.graphs.population import NodeFeatures, chosen_features
from lqm.graphs.problem import GraphProblem
from lqm.methods.chosen import Chosen
from lqm.methods.rules import RULES
from lqm.methods.spec import MethodSpec


@dataclass(frozen=True, config={"extra": "forbid"})
class CoresetSettings:
    """Nothing is learned: the one step does nothing.

    Attributes:
        hops: how often features are propagated, for the rule and for the set.
        features: of the nodes in the set, which has no edges: the propagated ones, or their own.
    """

    steps: Literal[1] = 1
    hops: Hops = 1
    features: NodeFeatures = "propagated"


def _by_rule(rule: str, problem: GraphProblem, settings: CoresetSettings) -> Chosen:
    """Nodes of each class by one rule, without edges."""

    def chosen() -> CondensedNodes:
        parts = problem.real, problem.counts, problem.seed
        return problem.condensed(chosen_features(rule, *parts, features=settings.features))

    return Chosen(chosen)


CORESETS = {
    rule: MethodSpec(CoresetSettings, partial(_by_rule, rule), matches=False) for rule in ("random", *RULES)
}
