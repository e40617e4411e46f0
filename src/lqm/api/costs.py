"""What work takes, reckoned from a few of its pieces: each is measured until that has taken long enough."""

import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from pydantic.dataclasses import dataclass

from lqm.api.continual import learn_stream
from lqm.api.evaluation_options import asked_of, changed
from lqm.api.evaluation_result import evaluator_of
from lqm.api.experts import train_experts
from lqm.api.planning import plan_condensation
from lqm.api.requests import CondenseRequest, ContinualRequest, ExpertsRequest, SketchRequest, SourceRequest
from lqm.api.sketch import make_sketch
from lqm.condensed import CondensedSet
from lqm.engine import resolve_device
from lqm.engine.forecast import begin_peak, peak_memory
from lqm.engine.loop import Method, disk_of_run
from lqm.graphs.continual import CONTINUAL_METHODS, Repeat
from lqm.graphs.domain import GRAPHS, graph_recipe
from lqm.methods.plan import Plan
from lqm.utils.names import choose

# Steps and shards that are made; the first of them may compile, and does not count for the others.
_STEPS, _SHARDS = 12, 4
# Steps are measured for so many seconds at least: on a busy machine a few of them wait for other processes,
# and the mean over some seconds counts these too.
_SECONDS = 2.0
# Epochs are made until the longer of two trainings takes so many seconds more than the shorter one, or half
# of the whole training would be made to measure it.
_EPOCHS, _ENOUGH = 2, 1.0
# What has taken so many seconds is not measured again.
_LONG = 5.0
# Settings by which the fewest experts will do; what a step takes does not depend on them.
_FEWEST = {
    "pairs": 1,
    "experts": 1,
    "max_start": 1,
    "min_start": 0,
    "first_max_start": None,
    "classified": False,
}


@dataclass(frozen=True)
class Cost:
    """What something takes: seconds, and bytes of memory and of disk; or why that can't be told."""

    seconds: float = 0.0
    memory: int = 0
    disk: int = 0
    sentence: str = ""


def cost_of_condensing(
    request: CondenseRequest, scratch: Path, *, trial_bank: bool = False
) -> tuple[Plan, Plan, Cost]:
    """A condensation that is ready to begin, the same as far as it was measured, and what it takes.

    Args:
        request: what to condense; nothing is written to its folder.
        scratch: a folder that is thrown away.
        trial_bank: whether its bank of experts is one of the fewest, made to measure by.
    """
    request = replace(request, out=None, show_progress=False)
    device = resolve_device(request.device)
    begin_peak()
    began = time.monotonic()
    plan = None if trial_bank else plan_condensation(request, device, scratch)
    fewest = _with_fewest_experts(request, plan.config["method"] if plan else request.method)
    plan = plan or plan_condensation(fewest, device, scratch)
    before = Cost()
    measured = plan
    if plan.experts and request.experts is None:
        before = _cost_of_experts(request, plan, scratch / "measured")
        measured = plan_condensation(fewest, device, scratch / "few")
        began = time.monotonic()
    if measured.experts:
        measured.experts()
    seconds = time.monotonic() - began
    if measured.init:
        seconds += _seconds_of_steps(measured.init.method, measured.init.steps)
        measured.init.then()
    seconds += _seconds_of_steps(measured.method, plan.steps)
    disk = disk_of_run(measured.method, plan.steps) + measured.result().data.nbytes
    return (
        plan,
        measured,
        Cost(before.seconds + seconds, max(before.memory, peak_memory()), before.disk + disk),
    )


def cost_of_bank(request: SketchRequest | ExpertsRequest, scratch: Path) -> Cost:
    """A bank, from its first shards."""
    few = replace(request, out=scratch, show_progress=False)
    begin_peak()
    if isinstance(few, SketchRequest):
        whole = few.encoders
        pieces: Callable[[int], object] = lambda n: make_sketch(replace(few, encoders=n))  # noqa: E731
    else:
        whole = few.networks * few.epochs
        # A rate that falls along all epochs would keep the first few from being continued.
        steady = replace(few, networks=1, settings={**(few.settings or {}), "schedule": "constant"})
        pieces = lambda n: train_experts(replace(steady, epochs=n))  # noqa: E731
    first, made = _seconds(pieces, 1), 1
    each = first
    if first < _LONG:
        each, made = _seconds(pieces, _SHARDS) / (_SHARDS - 1), _SHARDS
    size = sum(path.stat().st_size for path in scratch.iterdir())
    return Cost(first + (whole - 1) * each, peak_memory(), size * whole // made)


def cost_of_stream(request: ContinualRequest, scratch: Path) -> Cost:
    """All repeats of a stream, from short ones."""
    asked = stream_settings(request)
    asked_steps, asked_epochs = int(asked.get("steps", 0)), int(asked["epochs"])

    def learn(steps: int, epochs: int) -> Repeat:
        shorter = {"epochs": epochs} | ({"steps": steps} if asked_steps else {})
        settings = {**(request.settings or {}), **shorter}
        short = replace(request, settings=settings, out=scratch / f"{steps}", repeats=1, show_progress=False)
        return learn_stream(short).repeats[0]

    begin_peak()
    short, long = learn(1, 1), learn(_STEPS + 1, _STEPS + 1)
    memory = max(0.0, long.memory_seconds - short.memory_seconds) / _STEPS
    learning = max(0.0, long.learning_seconds - short.learning_seconds) / _STEPS
    once = short.memory_seconds + short.learning_seconds + asked_steps * memory + asked_epochs * learning
    size = sum(path.stat().st_size for path in (scratch / "1").rglob("*") if path.is_file())
    return Cost(request.repeats * once, peak_memory(), request.repeats * size)


def stream_settings(request: ContinualRequest) -> dict[str, Any]:
    """All settings of a stream, as far as they are known before it is planned."""
    method = choose(request.method, CONTINUAL_METHODS, "continual method")
    usual: dict[str, Any] = {
        field.name: field.default for kind in (method.learning, method.memory) for field in fields(kind)
    }
    if request.recipe:
        usual |= graph_recipe(GRAPHS.load(request), request.recipe, request.method).stream_settings
    return {**usual, **(request.settings or {})}


def seconds_of_evaluating(
    condensed: CondensedSet,
    source: Any,
    device: torch.device,
    options: Mapping[str, Any],
    *,
    compile: str | None = None,
    precision: str | None = None,
) -> float:
    """An evaluation, none of whose networks is cached, from trainings of a few epochs."""
    evaluator, seconds = evaluator_of(condensed), 0.0
    chosen, baselines, networks = asked_of(evaluator, **options)
    asked = options.get("repeats"), options.get("test_every")
    protocol = changed(chosen or evaluator.protocol_of(condensed), *asked)
    for name, spec in product(("condensed", *baselines), networks or [protocol.network]):
        full = name == "full"
        how, _ = evaluator.decide(
            source, protocol, condensed, device, full=full, compile=compile, precision=precision
        )
        records = evaluator.records(name, condensed, source, protocol, 0, device)(0)

        def train(
            epochs: int, spec: str = spec, full: bool = full, how: Any = how, records: Any = records
        ) -> object:
            rules = replace(protocol, epochs=epochs, network=spec)
            return evaluator.finder(source, rules, spec, 0, device, full, how)(records, 0)

        whole = protocol.epochs_for(len(records.labels), full=full)
        count = protocol.full_networks if full else protocol.networks
        seconds += count * _training_seconds(train, whole)
    return seconds


def _cost_of_experts(request: CondenseRequest, plan: Plan, scratch: Path) -> Cost:
    """The experts that a method trains for itself."""
    names = {field.name for field in fields(SourceRequest)} & {field.name for field in fields(ExpertsRequest)}
    shared = {name: getattr(request, name) for name in names}
    own = plan.config["experts"]
    bank = ExpertsRequest(**shared, networks=own["networks"], epochs=own["epochs"], settings=own["settings"])
    return cost_of_bank(bank, scratch)


def _with_fewest_experts(request: CondenseRequest, method: str | None) -> CondenseRequest:
    """The same by as few experts as there can be."""
    from lqm.api.domains import domain_of

    spec = domain_of(request).methods.get(method or "")
    if spec is None or not spec.experts:
        return request
    known = {field.name for field in fields(spec.settings)}
    fewest = {name: value for name, value in _FEWEST.items() if name in known}
    if "pairs" in known:
        fewest["expert_epochs"] = 1
    return replace(request, settings={**(request.settings or {}), **fewest})


def _seconds_of_steps(method: Method, steps: int) -> float:
    """So many steps, by the first of them."""
    times: list[float] = []
    while len(times) < steps and sum(times[1:]) < (_SECONDS if len(times) >= _STEPS else _LONG):
        times.append(_seconds(method.step, len(times)))
    return sum(times) + (steps - len(times)) * fmean(times[1:] or times or [0.0])


def _training_seconds(train: Callable[[int], object], whole: int) -> float:
    """A training of so many epochs, from shorter ones."""
    if whole <= 3 * _EPOCHS:
        return _seconds(train, whole)
    if _seconds(train, 1) >= _LONG and (again := _seconds(train, 1)) >= _LONG:
        return again * whole
    epochs, spent = _EPOCHS, 0.0
    while True:
        short, long = _seconds(train, epochs), _seconds(train, 3 * epochs)
        spent += short + long
        if long - short >= _ENOUGH or spent >= _LONG or 24 * epochs > whole:
            return long + max(0.0, long - short) / (2 * epochs) * (whole - 3 * epochs)
        epochs *= 4


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.monotonic()
    work(*arguments)
    return time.monotonic() - began
