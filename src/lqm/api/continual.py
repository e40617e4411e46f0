"""Continual learning: classes arrive task after task, and what is kept of each is a few nodes."""

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import torch
from torch import Tensor

from lqm.api.checking import check_types, request_of
from lqm.api.engines import executor_for, threads_for
from lqm.api.memory import within_memory
from lqm.api.options import ContinualOptions
from lqm.api.repeat_pieces import learn_repeats
from lqm.api.requests import ContinualRequest
from lqm.api.stream_faults import stream_faults
from lqm.api.stream_plan import plan_stream
from lqm.api.types import SourceLike
from lqm.condensed import CondensedNodes
from lqm.engine import Config, RunFolder, environment, resolve_device
from lqm.evaluation.accuracy_matrix import AccuracyMatrices
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import stored_matrices, write_result
from lqm.executors import Executor, InProcess, computing_with
from lqm.graphs.continual import (
    ContinualPlan,
    Repeat,
    RepeatContext,
    learn_repeat,
)
from lqm.graphs.continual.describe import describe_run
from lqm.report.continual import heat_map
from lqm.utils.html import heading, paragraph, table
from lqm.utils.log import warn
from lqm.utils.places import note_places, without_places
from lqm.utils.sentences import counted


@dataclass(frozen=True, eq=False, repr=False)
class ContinualResult:
    """How well a stream of tasks was learned, in several repeats.

    Attributes:
        config: source, stream, method, distance, budget and settings.
        tasks: the names of the classes of each task.
        repeats: accuracy matrix, memories and seconds of each repeat.
        path: the folder of the run.
        origin: the words with which `load_graph` finds the graph again; None if it was made in Python.
        warnings: what is wrong with condensed memories, a line each.
    """

    config: Config
    tasks: tuple[tuple[str, ...], ...]
    repeats: tuple[Repeat, ...]
    path: Path | None = None
    origin: dict[str, Any] | None = None
    warnings: tuple[str, ...] = ()

    @cached_property
    def accuracies(self) -> AccuracyMatrices:
        """The accuracy matrices of all repeats, with what follows from them."""
        return AccuracyMatrices(torch.stack([repeat.matrix for repeat in self.repeats]))

    @property
    def matrices(self) -> Tensor:
        """Accuracies A[r, k, i] in repeat r on task i after task k, [R, K, K]; NaN above the diagonal."""
        return self.accuracies.matrices

    @property
    def matrix(self) -> Tensor:
        """Their mean over the repeats, [K, K]."""
        return self.accuracies.mean

    @property
    def memories(self) -> list[list[CondensedNodes]]:
        """What was kept of each task, by repeat; empty without a memory."""
        return [repeat.memories for repeat in self.repeats]

    @property
    def average_accuracy_after(self) -> list[Spread]:
        """AA_k = mean over i <= k of A[k, i], after each task."""
        return self.accuracies.average

    @property
    def average_accuracy(self) -> Spread:
        """AA after the last task."""
        return self.average_accuracy_after[-1]

    @property
    def backward_transfer(self) -> Spread | None:
        """BWT = mean over all tasks but the last of A[last, i] - A[i, i]; None if there is one task only."""
        return self.accuracies.transfer[-1]

    @property
    def title(self) -> str:
        """Method, distance, memory and source in words, and pseudo-labels if there are any."""
        labelled = [int((memory.labels >= 0).sum()) for memory in self.repeats[0].memories]
        return describe_run(self.config, labelled)

    def record(self) -> dict[str, Any]:
        """Everything but the memories, ready for JSON; shares, not percent."""
        memory = self.repeats[0].memories
        return {
            "config": self.config,
            "origin": without_places(self.origin),
            "tasks": [list(names) for names in self.tasks],
            "repeats": len(self.repeats),
            "average_accuracy": _spread(self.average_accuracy),
            "backward_transfer": _spread(self.backward_transfer),
            "average_accuracy_after": [_spread(spread) for spread in self.average_accuracy_after],
            "matrices": [
                [[None if value != value else value for value in row] for row in matrix]
                for matrix in self.matrices.tolist()
            ],
            "warnings": list(self.warnings),
            "memory_nodes": [len(kept.labels) for kept in memory],
            "seconds": {
                "memory": [round(repeat.memory_seconds, 3) for repeat in self.repeats],
                "learning": [round(repeat.learning_seconds, 3) for repeat in self.repeats],
            },
        }

    def __len__(self) -> int:
        return len(self.tasks)

    def __repr__(self) -> str:
        tasks = counted(len(self), "task", "tasks")
        repeats = counted(len(self.repeats), "repeat", "repeats")
        transfer = self.backward_transfer
        forgotten = f", BWT {transfer.percent()}" if transfer else ""
        return f"ContinualResult({tasks}, {repeats}, AA {self.average_accuracy.percent()}{forgotten})"

    def _repr_html_(self) -> str:
        """What a notebook shows: the accuracies after each task, AA and BWT, and what they are of."""
        found, transfer, note = self.accuracies.notes(self.title)
        warned = "".join(paragraph(f"warning: {line}") for line in self.warnings)
        rows = table(*self.accuracies.layout())
        return heading(f"{found}, {transfer}") + warned + rows + paragraph(note, small=True)

    def __str__(self) -> str:
        return self.accuracies.markdown(self.title)


def continual(source: SourceLike, **options: Unpack[ContinualOptions]) -> ContinualResult:
    """Learn the classes of a graph task after task, keeping a few nodes of each; measure what is forgotten.

    All tasks' memories are made first; then one classifier goes through the stream. See `make_stream` for
    the tasks, and `LearningSettings` and the settings of CaT, PUMA and SSM for what can be set.

    Args:
        source: a name, a path, a `GraphSource` or PyG's `Data`; see `load_graph`. Its split is not used.
        **options: see `ContinualRequest`.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    return learn_stream(request_of(ContinualRequest, source=source, **options))


@within_memory("learning a stream", "give a smaller real_batch, width or graph")
def learn_stream(request: ContinualRequest) -> ContinualResult:
    """See `continual`."""
    check_types(request)
    executor, threads = executor_for(request), threads_for(request)
    with computing_with(threads):
        plan = plan_stream(request)
        if request.out is not None:
            return _learn(request, plan, Path(request.out), executor, threads)
        if isinstance(executor, InProcess):
            _log(plan.notes, request)
            return _result(plan, _repeats(request, plan, None), None)
        with tempfile.TemporaryDirectory(prefix="lqm-") as scratch:
            return replace(_learn(request, plan, Path(scratch), executor, threads), path=None)


def _learn(
    request: ContinualRequest, plan: ContinualPlan, path: Path, executor: Executor, threads: int
) -> ContinualResult:
    """Learn what is missing of a stream in a folder, and write what was found there."""
    with RunFolder(path, plan.config, environment(resolve_device(request.device))):
        stored = len(stored_matrices(path))
        finished = f"{path} is finished already, with {stored} repeats"
        _log((finished,) if stored >= request.repeats else plan.notes, request)
        if not isinstance(executor, InProcess):
            learn_repeats(request, plan, path, executor, threads)
        result = _result(plan, _repeats(request, plan, path), path)
        note_places(result.origin, result.config["source"]["fingerprint"])
        write_result(path, result.matrices, result.title, result.record(), heat_map)
        return result


def _repeats(request: ContinualRequest, plan: ContinualPlan, folder: Path | None) -> tuple[Repeat, ...]:
    """All repeats, each from where it was stopped before."""
    device = resolve_device(request.device)
    machine = environment(device)
    found = []
    for number in range(request.repeats):
        own = folder / f"repeat-{number}" if folder else None
        context = RepeatContext(number, request.repeats, device, own, machine, request.show_progress)
        found.append(learn_repeat(plan, context))
    return tuple(found)


def _log(lines: Iterable[str], request: ContinualRequest) -> None:
    for line in lines if request.show_progress else ():
        warn(line)


def _result(plan: ContinualPlan, repeats: tuple[Repeat, ...], folder: Path | None) -> ContinualResult:
    tasks = tuple(map(plan.stream.names, plan.stream.tasks))
    faults = stream_faults(plan, repeats, folder)
    for line in faults:
        warn(f"warning: {line}")
    return ContinualResult(plan.config, tasks, repeats, folder, plan.origin, faults)


def _spread(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation, "each": list(spread.each)}
