"""What a cell or a bank takes, reckoned from a few of its steps; in a process of its own, for its memory."""

import os
import sys
import time
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.api.cells import Place, request_of
from lqm.api.condense import run_condensation
from lqm.api.continual import learn_stream
from lqm.api.evaluate import evaluator_of
from lqm.api.evaluation_options import asked_of, repeated
from lqm.api.experts import train_experts
from lqm.api.planning import plan_condensation
from lqm.api.requests import CondenseRequest, ContinualRequest, SketchRequest
from lqm.api.sketch import make_sketch
from lqm.api.study_banks import bank_request
from lqm.engine import resolve_device
from lqm.engine.forecast import peak_memory
from lqm.engine.run import METRICS
from lqm.graphs.continual import CONTINUAL_METHODS, Repeat
from lqm.graphs.domain import GRAPHS, graph_recipe
from lqm.studies.cell import Bank, Cell
from lqm.utils.errors import LqmError
from lqm.utils.lines import read_lines

# Steps and shards that are made; the first of them may compile, and does not count for the others.
_STEPS, _SHARDS = 12, 4
# Epochs are made until the longer of two trainings takes so many seconds more than the shorter one.
_EPOCHS, _ENOUGH = 2, 1.0


@dataclass(frozen=True)
class Cost:
    """What something takes: seconds, and bytes of memory and of disk; or why that can't be told."""

    seconds: float = 0.0
    memory: int = 0
    disk: int = 0
    sentence: str = ""


@dataclass(frozen=True)
class Probe:
    """A cell or a bank to measure, in a folder that is thrown away."""

    what: Cell | Bank
    place: Place


PROBE, COST = TypeAdapter(Probe), TypeAdapter(Cost)


def measure(probe: Probe) -> Cost:
    """Its cost; a sentence if it can't be run."""
    try:
        if isinstance(probe.what, Bank):
            return _of_bank(probe.what, probe.place)
        request = replace(request_of(probe.what, probe.place), show_progress=False)
        if isinstance(request, ContinualRequest):
            return Cost(_of_stream(request), peak_memory())
        return _of_set(request, probe.what)
    except LqmError as error:
        return Cost(sentence=str(error))


def _of_bank(bank: Bank, place: Place) -> Cost:
    request = replace(bank_request(bank, place), show_progress=False)
    if isinstance(request, SketchRequest):
        whole = request.encoders
        times = [_seconds(make_sketch, replace(request, encoders=n)) for n in (1, _SHARDS)]
    else:
        whole = request.networks * request.epochs
        times = [_seconds(train_experts, replace(request, networks=1, epochs=n)) for n in (1, _SHARDS)]
    made = sum(path.stat().st_size for path in Path(str(request.out)).iterdir())
    return Cost(times[0] + (whole - 1) * times[1] / (_SHARDS - 1), peak_memory(), made * whole // _SHARDS)


def _of_set(request: CondenseRequest, cell: Cell) -> Cost:
    device = resolve_device(request.device)
    plan = plan_condensation(replace(request, out=None), device)
    few = min(_STEPS, plan.steps)
    began = time.monotonic()
    condensed = run_condensation(replace(request, settings={**(request.settings or {}), "steps": few}))
    folder = Path(str(request.out))
    steps = [line["seconds"] for line in read_lines(folder / METRICS)]
    usual = median(steps[1:] or steps or [0.0])
    seconds = time.monotonic() - began + (plan.steps - few) * usual
    evaluator = evaluator_of(condensed)
    chosen, baselines, networks = asked_of(evaluator, **cell.evaluation)
    protocol = repeated(chosen or evaluator.protocol_of(condensed), cell.evaluation.get("repeats"))
    for name, spec in product(("condensed", *baselines), networks or [protocol.network]):
        full = name == "full"
        how, _ = evaluator.decide(plan.source, protocol, condensed, device, full=full)
        records = evaluator.records(name, condensed, plan.source, protocol, 0, device)(0)

        def train(
            epochs: int, spec: str = spec, full: bool = full, how: Any = how, records: Any = records
        ) -> object:
            rules = replace(protocol, epochs=epochs, network=spec)
            return evaluator.finder(plan.source, rules, spec, 0, device, full, how)(records, 0)

        whole = protocol.epochs_for(len(records.labels), full=full)
        count = protocol.full_networks if full else protocol.networks
        seconds += count * _training_seconds(train, whole)
    made = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return Cost(seconds, peak_memory(), made)


def _of_stream(request: ContinualRequest) -> float:
    method = CONTINUAL_METHODS[request.method]
    usual: dict[str, Any] = {
        field.name: field.default for kind in (method.learning, method.memory) for field in fields(kind)
    }
    if request.recipe:
        usual |= graph_recipe(GRAPHS.load(request), request.recipe, request.method).settings
    asked = {**usual, **(request.settings or {})}
    asked_steps, asked_epochs = int(asked.get("steps", 0)), int(asked["epochs"])

    def learn(steps: int, epochs: int) -> Repeat:
        shorter = {"epochs": epochs} | ({"steps": steps} if asked_steps else {})
        settings = {**(request.settings or {}), **shorter}
        return learn_stream(replace(request, settings=settings, out=None)).repeats[0]

    short, long = learn(1, 1), learn(_STEPS + 1, _STEPS + 1)
    memory = max(0.0, long.memory_seconds - short.memory_seconds) / _STEPS
    learning = max(0.0, long.learning_seconds - short.learning_seconds) / _STEPS
    once = short.memory_seconds + short.learning_seconds
    return once + asked_steps * memory + asked_epochs * learning


def _training_seconds(train: Callable[[int], object], whole: int) -> float:
    """Seconds of a training of so many epochs, from shorter ones."""
    train(1)
    epochs = _EPOCHS
    while True:
        short, long = _seconds(train, epochs), _seconds(train, 3 * epochs)
        if long - short >= _ENOUGH or 3 * epochs >= whole:
            return long + max(0.0, long - short) / (2 * epochs) * (whole - 3 * epochs)
        epochs *= 4


def _seconds(work: Callable[..., object], *arguments: object) -> float:
    began = time.monotonic()
    work(*arguments)
    return time.monotonic() - began


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answer.write(COST.dump_json(measure(PROBE.validate_json(sys.stdin.read()))).decode())
    answer.close()
