"""From what the user asked for to a condensation of a graph that is ready to begin."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from lqm.banks import (
    Sketch,
    advice,
    require_fine_enough,
    require_same_source,
    sketched_method,
    sketched_settings,
)
from lqm.distances import Distance
from lqm.engine import environment
from lqm.graphs.budget import parse_budget, shares
from lqm.graphs.evaluation import PROTOCOLS
from lqm.graphs.methods import METHODS
from lqm.graphs.methods.cat import CaT
from lqm.graphs.population import population
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.source import GraphSource
from lqm.methods.plan import Plan, distance_for, distance_record, in_words, titled
from lqm.utils.names import choose
from lqm.utils.settings import make_settings

_PROTOCOL = "cat-500"


def plan_nodes(
    source: Any,
    *,
    method: str | None,
    distance: Distance | None,
    seed: int,
    settings: dict[str, Any],
    device: torch.device,
    show_progress: bool,
    budget: int | str | None = None,
    features: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    sketch: Sketch | None = None,
) -> Plan:
    """See `lqm.condense`."""
    name = sketched_method(sketch, method, METHODS) if sketch else method or "cat"
    kind = choose(name, METHODS, "method for graphs")
    if sketch:
        settings = sketched_settings(sketch, kind.Settings, settings, CaT.schedule_settings)
    resolved = make_settings(kind.Settings, settings)
    matched = distance_for(name, matches=kind.matches, distance=distance)
    asked = "1%" if budget is None else budget
    parse_budget(asked, 1)
    data = load_graph(source, features=features, split=split, data_dir=data_dir, show_progress=show_progress)
    if sketch:
        require_same_source(sketch, data.record)
    wanted = parse_budget(asked, data.graph.nodes)
    counts = shares(wanted, [len(nodes) for nodes in data.by_class])
    real = population(data.graph, data.by_class, data.class_names, resolved.hops)
    learner = kind(real, matched, counts, seed, resolved, device)
    if sketch:
        require_fine_enough(sketch, matched, max(counts))
        assert isinstance(learner, CaT)
        learner.recall_from(sketch)
    fixed = asdict(resolved)
    steps = fixed.pop("steps")
    return Plan(
        learner,
        steps,
        source=data,
        config={
            "source": data.record,
            "method": name,
            "distance": distance_record(matched),
            "budget": sum(counts),
            "counts": counts,
            "seed": seed,
            "settings": fixed,
            **({"sketch": sketch.identity} if sketch else {}),
        },
        record={
            "recipe": "",
            "steps": steps,
            "origin": data.origin,
            "evaluation": asdict(PROTOCOLS[_PROTOCOL]),
            "environment": environment(device),
        },
        title=titled(name, matched),
        words=(
            *data.notes,
            _budget_in_words(wanted, counts, data),
            "settings: " + in_words({"steps": steps, **fixed}),
            *advice(sketch, steps),
        ),
    )


def _budget_in_words(wanted: int, counts: list[int], source: GraphSource) -> str:
    fewest, most, total = min(counts), max(counts), sum(counts)
    each = f"{fewest} of each class" if fewest == most else f"{fewest} to {most} of a class, by its share"
    more = "" if total == wanted else f", not {wanted}: each of the {len(counts)} classes gets at least one"
    graph = source.graph
    return (
        f"{graph.nodes:,} nodes, {graph.edges:,} edges and {graph.width:,} features, with "
        f"{len(source.train):,} nodes to learn from, {len(source.validation):,} to choose by and "
        f"{len(source.test):,} to test ({source.split}), become {total:,} nodes ({each}{more})"
    )
