"""Tables as a kind of data: how a source is found, and how a problem is put together."""

from dataclasses import asdict
from typing import Any

import torch

from lqm.condensed import CondensedTable
from lqm.distances import DISTANCES
from lqm.methods.domain import Choices, Domain, Prepared, require_per_class
from lqm.methods.networks import own_network, own_record
from lqm.recipes import Recipe, chosen_recipe
from lqm.tabular.auditing import AUDITOR
from lqm.tabular.evaluation import ROWS as EVALUATOR
from lqm.tabular.methods import METHODS
from lqm.tabular.problem import TableProblem
from lqm.tabular.sources import TABLES as NAMES
from lqm.tabular.sources import TableSource, is_table, load_table
from lqm.utils.errors import ConfigError
from lqm.utils.settings import Count, check


def _load(request: Any) -> TableSource:
    return load_table(
        request.source,
        label=request.label,
        test_fraction=request.test_fraction,
        validation=request.validation,
    )


def _check(request: Any) -> None:
    check("per_class", request.per_class, Count | None)


def _recipe(
    source: TableSource,
    method: str | None,
    name: str | None,
    per_class: int | None,
    device: torch.device,
) -> Recipe:
    return chosen_recipe(source.recipes, name, method, per_class, cpu=False)


def _prepare(choices: Choices) -> Prepared:
    source, request = choices.source, choices.request
    count = 1 if choices.sketching else require_per_class(choices.recipe.per_class, source, "rows")
    own = own_network(request, banked=bool(choices.sketching or choices.sketch))
    problem = TableProblem(
        class_names=source.class_names,
        counts=(count,) * len(source.class_names),
        distance=choices.distance or DISTANCES["lqm"],
        seed=request.seed,
        device=choices.device,
        sketch=choices.sketch,
        source=source,
        network=own,
    )
    recorded = asdict(choices.settings)
    if own is not None:
        if "network" not in recorded:
            raise ConfigError(f"network has no part in method '{choices.recipe.method}'; leave it out")
        recorded["network"] = own_record(own, problem.fresh_network("", "record", 0))
    size = {} if choices.sketching else {"per_class": count}
    return Prepared(problem, size, recorded, {}, source.notes)


TABLES = Domain(
    name="tables",
    article="a table",
    condensed=CondensedTable,
    names=NAMES,
    owns=is_table,
    options=("per_class", "network", "test_fraction", "label"),
    instead={"budget": "give per_class instead"},
    methods=METHODS,
    default_method="dm",
    load=_load,
    check=_check,
    recipe=_recipe,
    prepare=_prepare,
    all_records=lambda source: 0,
    evaluator=EVALUATOR,
    auditor=AUDITOR,
)
