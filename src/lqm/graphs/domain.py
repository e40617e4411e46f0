"""Graphs as a kind of data: how a source is found, and how a problem is put together."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import torch

from lqm.condensed import CondensedNodes
from lqm.distances import DISTANCES
from lqm.graphs.auditing import AUDITOR
from lqm.graphs.budget import parse_budget, shares
from lqm.graphs.continual.planning import stream_source
from lqm.graphs.evaluation import NODES as EVALUATOR
from lqm.graphs.lengths import lengths_beside
from lqm.graphs.methods import METHODS
from lqm.graphs.population import featureless, population
from lqm.graphs.problem import GraphProblem
from lqm.graphs.sources import GRAPHS as NAMES
from lqm.graphs.sources import GraphSource, is_graph, load_graph
from lqm.graphs.stream import check_features, make_stream
from lqm.methods.domain import Choices, Domain, Prepared
from lqm.recipes import BEST, CALLED, Recipe, called_recipe, named_recipe
from lqm.recipes import GRAPHS as RECIPES
from lqm.utils.errors import ConfigError

_DEFAULT_BUDGET = "1%"


def _load(request: Any) -> GraphSource:
    split, validation = getattr(request, "split", None), request.validation
    if getattr(request, "classes_per_task", None) is not None:
        check_features(request.features)
        if split is not None:
            raise ConfigError("each task of a stream has a split of its own; leave the split out")
        validation = False  # the tasks have validation nodes of their own
        # It is not used, and unlike a published one it leaves no class without a training node.
        split = None if isinstance(request.source, GraphSource) else "random"
    return load_graph(
        request.source,
        features=request.features,
        split=split,
        normalise_features=request.normalise_features,
        data_dir=request.data_dir,
        validation=validation,
        show_progress=request.show_progress,
    )


def _check(request: Any) -> None:
    parse_budget(_budget(request), 1)


def _budget(request: Any) -> int | str:
    return _DEFAULT_BUDGET if request.budget is None else request.budget


def _recipe(
    source: GraphSource,
    method: str | None,
    name: str | None,
    per_class: int | None,
    device: torch.device,
) -> Recipe:
    """The recipe of that name, if one is given: else a method has its defaults, and the protocol of best."""
    if name is None:
        return Recipe("", method or "cat", protocol=called_recipe(RECIPES, BEST, "cat").protocol)
    return graph_recipe(source, name, method)


def graph_recipe(source: GraphSource, name: str, method: str | None) -> Recipe:
    """The recipe of that name; `paper` and `best` are those of the method, or of the graph if it has one.

    Raises:
        ConfigError: if there is none, or it is for another method.
    """
    if name in CALLED:
        plain = "".join(filter(str.isalnum, source.name.lower()))
        return called_recipe(RECIPES, name, method or "cat", graph=plain)
    return named_recipe(RECIPES, name, method)


def _prepare(choices: Choices) -> Prepared:
    source, request, hops = choices.source, choices.request, choices.settings.hops
    size: dict[str, Any] = {}
    notes = source.notes
    if choices.sketching and request.classes_per_task is not None:
        stream = make_stream(source, **stream_options(request))
        real = stream.population(hops)
        size = {"source": stream_source(source), "stream": stream_options(request)}
        notes = stream.notes
    else:
        real = population(source.graph, source.by_class, source.class_names, hops)
    notes = (*notes, *featureless(real))
    counts = [1] * len(real.class_names)
    if not choices.sketching:
        wanted = parse_budget(_budget(request), source.graph.nodes)
        counts = shares(wanted, [len(nodes) for nodes in source.by_class])
        size = {"budget": sum(counts), "counts": counts}
        notes = (*notes, _describe_budget(wanted, counts, source))
    problem = GraphProblem(
        class_names=real.class_names,
        counts=tuple(counts),
        distance=choices.distance or DISTANCES["lqm"],
        seed=request.seed,
        device=choices.device,
        sketch=choices.sketch,
        real=real,
    )
    return Prepared(
        problem, size, asdict(choices.settings), {}, notes, lengths=partial(lengths_beside, real=real)
    )


def stream_options(request: Any) -> dict[str, Any]:
    """The options of a request with which a stream is made."""
    names = ("classes_per_task", "order", "order_seed", "inter_task_edges", "remainder", "split_seed")
    words = {name: getattr(request, name) for name in names}
    return words | ({"validation": True} if request.validation else {})


def _describe_budget(wanted: int, counts: Sequence[int], source: GraphSource) -> str:
    fewest, most, total = min(counts), max(counts), sum(counts)
    each = f"{fewest} of each class" if fewest == most else f"{fewest} to {most} of a class, by its share"
    more = "" if total == wanted else f", not {wanted}: each of the {len(counts)} classes gets at least one"
    graph = source.graph
    parts = f"{len(source.validation):,} to choose by and {len(source.test):,} to test"
    if source.scored_on == "validation":
        parts = f"{len(source.test):,} to choose by"
    return (
        f"{graph.nodes:,} nodes, {graph.edges:,} edges and {graph.width:,} features, with "
        f"{len(source.train):,} nodes to learn from, {parts} ({source.split}), become {total:,} nodes "
        f"({each}{more})"
    )


GRAPHS = Domain(
    name="graphs",
    article="a graph",
    condensed=CondensedNodes,
    names=NAMES,
    owns=is_graph,
    options=("budget", "features", "split", "normalise_features", "classes_per_task"),
    instead={"per_class": "give a budget instead"},
    methods=METHODS,
    default_method="cat",
    load=_load,
    check=_check,
    recipe=_recipe,
    prepare=_prepare,
    all_records=lambda source: 0,
    evaluator=EVALUATOR,
    auditor=AUDITOR,
)
