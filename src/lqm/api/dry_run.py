"""What a command would do, and what it would take: a few steps are measured, and nothing is left behind."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from lqm.api.checking import check_types
from lqm.api.costs import (
    Cost,
    cost_of_bank,
    cost_of_condensing,
    cost_of_stream,
    seconds_of_evaluating,
)
from lqm.api.domains import domain_of
from lqm.api.evaluation_options import asked_of, changed
from lqm.api.evaluation_result import evaluator_of
from lqm.api.experts import expert_settings
from lqm.api.requests import CondenseRequest, ContinualRequest, ExpertsRequest, SketchRequest, SourceRequest
from lqm.api.side_by_side import Places, side_by_side
from lqm.api.sketch import plan_sketch
from lqm.api.stream_plan import plan_stream
from lqm.condensed import load_described
from lqm.engine import resolve_device
from lqm.engine.checkpoint import newest_step
from lqm.engine.forecast import begin_peak, peak_memory
from lqm.evaluation.origins import real_data_of
from lqm.executors import computing_with
from lqm.graphs.domain import GRAPHS
from lqm.methods.plan import as_text
from lqm.utils.effects import effective
from lqm.utils.memory import memory_for_reading
from lqm.utils.sentences import counted

# All that takes time to import is here now.
LOADED_AT = time.monotonic()


@dataclass(frozen=True)
class DryRun:
    """What would be done.

    Attributes:
        name: of the work.
        source: the sizes of the data, in words.
        settings: recipe and settings, a line each.
        result: what would be made, and where.
        cost: what it takes.
    """

    name: str
    source: str
    settings: tuple[str, ...]
    result: str
    cost: Cost


def dry_condense(request: CondenseRequest) -> DryRun:
    """A condensation; of one that has begun, the steps that are left."""
    check_types(request)
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        plan, measured, cost = cost_of_condensing(request, Path(scratch))
        made = measured.result(seconds=0.0)
    made_steps = newest_step(Path(str(request.out)) / "checkpoints") if request.out else 0
    left = max(0, plan.steps - made_steps) / plan.steps
    what = f"{len(made.labels):,} records of {len(made.class_names)} classes"
    begun = f", of which {made_steps:,} are made" if made_steps else ""
    return DryRun(
        plan.title,
        sizes_of(plan.source),
        plan.notes,
        f"{what} after {plan.steps:,} steps{begun}, in {request.out}",
        replace(cost, seconds=cost.seconds * left),
    )


def dry_bank(request: SketchRequest | ExpertsRequest) -> DryRun:
    """A sketch, or a bank of experts."""
    check_types(request)
    source = _loaded(request)
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        cost = cost_of_bank(request, Path(scratch))
    if isinstance(request, SketchRequest):
        name, what = "sketch", f"{request.encoders:,} encoders"
        settings = plan_sketch(request)[2]
    else:
        name = "experts"
        what = f"{request.networks:,} networks with {request.epochs + 1:,} snapshots each"
        own = expert_settings(request)
        settings = (f"experts: {as_text(effective(own, own.record))}",)
    return DryRun(name, sizes_of(source), settings, f"{what}, in {request.out}", cost)


def dry_continual(request: ContinualRequest) -> DryRun:
    """A stream of tasks, with all of its repeats."""
    check_types(request)
    plan = plan_stream(request)
    with memory_for_reading(request.source):
        source = GRAPHS.load(request)
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        cost = cost_of_stream(request, Path(scratch))
    repeats = counted(request.repeats, "repeat", "repeats")
    what = f"{repeats} of a stream of {counted(len(plan.stream.tasks), 'task', 'tasks')}"
    return DryRun(request.method, sizes_of(source), plan.notes, f"{what}, in {request.out}", cost)


def dry_evaluate(
    run: str | Path,
    *,
    source: str | None = None,
    data_dir: str | Path | None = None,
    max_memory: str | int | None = None,
    device: str = "auto",
    jobs: int | None = None,
    threads: int | None = None,
    compile: str | None = None,
    precision: str | None = None,
    **options: Any,
) -> DryRun:
    """An evaluation, none of whose networks is cached."""
    where = resolve_device(device)
    condensed = load_described(run)
    evaluator = evaluator_of(condensed)
    data = real_data_of(evaluator, condensed, source, data_dir, max_memory)
    begin_peak()
    chosen, baselines, makers = asked_of(evaluator, **options)
    own = chosen or evaluator.protocol_of(condensed)
    rules = changed(own, options.get("repeats"), options.get("test_every"))
    places = side_by_side(
        evaluator,
        condensed,
        data,
        rules,
        usual=own.networks,
        networks=[*makers] or [own.network],
        sets=("condensed", *baselines),
        device=where,
    )
    if jobs or threads:
        places = Places(jobs or 1, threads or max(1, torch.get_num_threads() // (jobs or 1)))
    with computing_with(places.threads):
        whole = seconds_of_evaluating(condensed, data, where, options, compile=compile, precision=precision)
    return DryRun(
        "evaluate",
        sizes_of(data),
        (f"protocol {own.name}",),
        f"scores in the manifest of {run}",
        Cost(whole / places.jobs, places.jobs * peak_memory()),
    )


def sizes_of(source: Any) -> str:
    """How large a source is, in words."""
    classes = f"{len(source.class_names):,} classes"
    if hasattr(source, "graph"):
        graph = source.graph
        sizes = f"{graph.nodes:,} nodes, {graph.edges:,} edges, {graph.width:,} features"
        return f"{source.name}: {sizes}, {classes}"
    train, test = (len(part.labels) for part in (source.train, source.test))
    kind, each = "images", " x ".join(map(str, source.shape))
    if hasattr(source, "feature_names"):
        kind, each = "rows", f"{len(source.feature_names):,} features"
    return f"{source.name}: {train:,} {kind} to learn from and {test:,} to test, {each}, {classes}"


def _loaded(request: SourceRequest) -> Any:
    with memory_for_reading(request.source):
        return domain_of(request).load(request)
