"""One repeat: the memories, then the classifier task after task; every finished part is kept on the disk."""

import json
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes, load
from lqm.engine import Config, RunFolder
from lqm.engine.checkpoint import latest_checkpoint, loading, require_alike, save_checkpoint
from lqm.engine.progress import Progress
from lqm.engine.run_record import recorded_id
from lqm.graphs.continual.condensing import MemoryCondenser
from lqm.graphs.continual.learning import Learner, TrainingData, accuracy_row, of_memory, whole_graphs
from lqm.graphs.continual.planning import ContinualPlan
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.log import warn


@dataclass(frozen=True, eq=False)
class Repeat:
    """What one repeat found.

    Attributes:
        matrix: accuracies, [K, K]: row k after task k, column i of task i; NaN above the diagonal.
        memories: what was kept of each task; empty without a memory.
        memory_seconds: what making these took, of all tasks together.
        learning_seconds: what training and testing took.
    """

    matrix: Tensor = field(repr=False)
    memories: list[CondensedNodes] = field(repr=False)
    memory_seconds: float
    learning_seconds: float


@dataclass(frozen=True, eq=False)
class RepeatContext:
    """Where a repeat computes, and where it keeps what is finished.

    Attributes:
        number: of the repeat, from 0.
        repeats: of how many, for the progress.
        folder: None to keep nothing.
        machine: what the last bits depend on.
    """

    number: int
    repeats: int
    device: torch.device
    folder: Path | None
    machine: Mapping[str, str | int]
    show_progress: bool


def learn_repeat(plan: ContinualPlan, context: RepeatContext) -> Repeat:
    """Make the memories of all tasks and go through the stream, from where this was stopped before.

    A repeat that was killed at any moment and resumed finds bit for bit what one that was not finds.
    """
    config = plan.config | {"seed": plan.config["seed"] + context.number}
    memories, memory_seconds = [], 0.0
    if plan.request.method.has_memory:
        memories = _read_memories(plan, context, config) or _make_memories(plan, context, config)
        memory_seconds = float(memories[0].manifest["seconds"])
    matrix, seconds = _learn(plan, context, config["seed"], memories)
    return Repeat(matrix, memories, memory_seconds, seconds)


def _read_memories(plan: ContinualPlan, context: RepeatContext, config: Config) -> list[CondensedNodes]:
    """The memories of all tasks, unless one is missing, damaged or of something else."""
    found: list[CondensedNodes] = []
    config = json.loads(json.dumps(config))
    for task in plan.stream.tasks:
        path = _memory_folder(context, task.number)
        if path is None or not (path / "manifest.json").exists():
            return []
        try:
            memory = load(path)
        except ArtifactError as error:
            warn(f"{error}; making it again")
            return []
        own = config | {"task": task.number}
        names = ("source", "stream", "method", "budget", "seed", "task")
        foreign = any(memory.manifest.get(name) != own[name] for name in names)
        if foreign or not isinstance(memory, CondensedNodes):
            warn(f"{path} is of another stream, task or seed; making it again")
            return []
        found.append(memory)
    return found


def _make_memories(plan: ContinualPlan, context: RepeatContext, config: Config) -> list[CondensedNodes]:
    request, stream = plan.request, plan.stream

    def below(name: str) -> AbstractContextManager[RunFolder | None]:
        return RunFolder(context.folder / name, config, context.machine) if context.folder else nullcontext()

    if request.method.condense and request.distance:
        condenser = MemoryCondenser(
            request.name,
            request.method.condense,
            request.distance,
            plan.counts,
            request.memory,
            request.learning,
            config["seed"],
            context.device,
            plan.sketch,
        )
        made, seconds = condenser.memories(stream, below, show_progress=context.show_progress)
    else:
        assert request.method.store is not None
        began = time.monotonic()
        made = [
            request.method.store(stream, task, counts, config["seed"], request.memory)
            for task, counts in zip(stream.tasks, plan.counts, strict=True)
        ]
        seconds = time.monotonic() - began
    kept = []
    for task, counts, memory in zip(stream.tasks, plan.counts, made, strict=True):
        described = config | {
            "task": task.number,
            "classes": list(stream.names(task)),
            "counts": list(counts),
            "context": int((memory.labels < 0).sum()),
            "seconds": round(seconds, 3),
        }
        whole = replace(memory, manifest=described | memory.manifest)
        path = _memory_folder(context, task.number)
        kept.append(whole.write(path) if path else whole)
    return kept


def _learn(
    plan: ContinualPlan, context: RepeatContext, seed: int, memories: list[CondensedNodes]
) -> tuple[Tensor, float]:
    """The accuracy matrix, [K, K], and the seconds of training and testing."""
    request, stream = plan.request, plan.stream
    tasks = len(stream.tasks)
    learner = Learner(stream, request.learning, seed, context.device, "classifier")
    matrix = torch.full((tasks, tasks), torch.nan, dtype=torch.float64)
    first, seconds = _resume(learner, matrix, context)
    if first == tasks:
        return matrix, seconds
    graphs = whole_graphs(stream, context.device)
    training_data = TrainingData(
        stream,
        graphs,
        [of_memory(memory, context.device) for memory in memories] or None,
        keeps=request.method.keeps,
        in_memory=bool(memories) and request.learning.train_in_memory,
    )
    before = context.number * tasks
    title = f"learn, repeat {context.number + 1} of {context.repeats}"
    with Progress(
        title, context.repeats * tasks, before + first, shown=context.show_progress, each="task"
    ) as bar:
        for task in stream.tasks[first:]:
            began = time.monotonic()
            learner.learn(task, training_data.at(task))
            row = accuracy_row(
                learner.network, stream, graphs, task.number, among_task=request.scoring == "task"
            )
            matrix[task.number, : task.number + 1] = torch.tensor(row, dtype=torch.float64)
            seconds += time.monotonic() - began
            _keep(learner, matrix, task.number + 1, seconds, context)
            bar.update(before + task.number + 1, {"accuracy so far": sum(row) / len(row)})
    return matrix, seconds


def _resume(learner: Learner, matrix: Tensor, context: RepeatContext) -> tuple[int, float]:
    """Bring learner and matrix to the last finished task; gives how many are finished, and their seconds."""
    if context.folder is None:
        return 0, 0.0
    checkpoint = latest_checkpoint(context.folder / "checkpoints", warn, _run_id(context))
    if checkpoint is None:
        return 0, 0.0
    with loading(checkpoint):
        require_alike(checkpoint.state, learner.state() | {"matrix": matrix})
        matrix.copy_(checkpoint.state["matrix"])
        learner.load_state(checkpoint.state)
        seconds = float(checkpoint.state["seconds"])
    _write_rows(matrix, checkpoint.step, context)
    return checkpoint.step, seconds


def _run_id(context: RepeatContext) -> str | None:
    """What the checkpoints of a repeat carry: the stream that it is of, and its number."""
    stream = recorded_id(context.folder.parent) if context.folder else None
    return stream and f"{stream}/{context.number}"


def _keep(learner: Learner, matrix: Tensor, finished: int, seconds: float, context: RepeatContext) -> None:
    if context.folder:
        progress = {"matrix": matrix, "seconds": torch.tensor(seconds, dtype=torch.float64)}
        state = learner.state() | progress
        save_checkpoint(context.folder / "checkpoints", finished, state, _run_id(context))
        _write_rows(matrix, finished, context)


def _write_rows(matrix: Tensor, finished: int, context: RepeatContext) -> None:
    """Rows of the matrix for whoever looks into the folder; the checkpoint is what is gone on from."""
    for number in range(finished):
        path = context.folder / f"after-{number:02d}.json" if context.folder else None
        if path and not path.exists():
            row = {"task": number, "accuracies": matrix[number, : number + 1].tolist()}
            write_atomically(path, json.dumps(row).encode() + b"\n")


def _memory_folder(context: RepeatContext, task: int) -> Path | None:
    return context.folder / "memory" / f"task-{task:02d}" if context.folder else None
