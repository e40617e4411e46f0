"""Coresets: real rows, chosen by their standardised features."""

from functools import partial
from typing import Literal

from pydantic.dataclasses import dataclass

from lqm.methods.chosen import Chosen
from lqm.methods.rules import RULES
from lqm.methods.spec import MethodSpec
from lqm.tabular.choosing import chosen_rows
from lqm.tabular.problem import TableProblem


@dataclass(frozen=True, config={"extra": "forbid"})
class CoresetSettings:
    """There is nothing to set: the one step does nothing."""

    steps: Literal[1] = 1


def _by_rule(rule: str, problem: TableProblem, settings: CoresetSettings) -> Chosen:
    return Chosen(lambda: problem.condensed(chosen_rows(rule, problem.source, problem.counts, problem.seed)))


CORESETS = {
    rule: MethodSpec(CoresetSettings, partial(_by_rule, rule), matches=False) for rule in ("random", *RULES)
}
