"""Continual learning: classes arrive task after task, and what is kept of each is a few nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.distances import DISTANCES, Distance
from lqm.engine import Config, RunFolder, environment, resolve_device
from lqm.engine.progress import warn
from lqm.graphs.continual import (
    ContinualPlan,
    Place,
    Repeat,
    Spread,
    average_accuracies,
    backward_transfer,
    check_request,
    learn_repeat,
    plan_continual,
)
from lqm.graphs.continual.words import title_in_words
from lqm.graphs.sources import load_graph
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.stream import check_features, make_stream
from lqm.report.continual import continual_markdown, stored_matrices, write_result
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose


@dataclass(frozen=True, eq=False)
class ContinualResult:
    """How well a stream of tasks was learned, in several repeats.

    Attributes:
        config: source, stream, method, distance, budget and settings.
        tasks: the names of the classes of each task.
        repeats: accuracy matrix, memories and seconds of each repeat.
        path: the folder of the run.
        origin: the words with which `load_graph` finds the graph again; None if it was made in Python.
    """

    config: Config
    tasks: tuple[tuple[str, ...], ...]
    repeats: tuple[Repeat, ...] = field(repr=False)
    path: Path | None = None
    origin: dict[str, Any] | None = None

    @cached_property
    def matrices(self) -> Tensor:
        """Accuracies A[r, k, i] in repeat r on task i after task k, [R, K, K]; NaN above the diagonal."""
        return torch.stack([repeat.matrix for repeat in self.repeats])

    @property
    def matrix(self) -> Tensor:
        """Their mean over the repeats, [K, K]."""
        return self.matrices.mean(dim=0)

    @property
    def memories(self) -> list[list[CondensedNodes]]:
        """What was kept of each task, by repeat; empty without a memory."""
        return [repeat.memories for repeat in self.repeats]

    @property
    def average_accuracy_after(self) -> list[Spread]:
        """AA_k = mean over i <= k of A[k, i], after each task."""
        return [Spread(tuple(column)) for column in average_accuracies(self.matrices).T.tolist()]

    @property
    def average_accuracy(self) -> Spread:
        """AA after the last task."""
        return self.average_accuracy_after[-1]

    @property
    def backward_transfer(self) -> Spread | None:
        """BWT = mean over all tasks but the last of A[last, i] - A[i, i]; None if there is one task only."""
        found = backward_transfer(self.matrices)
        return None if found is None else Spread(tuple(found.tolist()))

    @property
    def title(self) -> str:
        """Method, distance, memory and source in words, and pseudo-labels if there are any."""
        labelled = [int((memory.labels >= 0).sum()) for memory in self.repeats[0].memories]
        return title_in_words(self.config, labelled)

    def record(self) -> dict[str, Any]:
        """Everything but the memories, ready for JSON; shares, not percent."""
        memory = self.repeats[0].memories
        return {
            "config": self.config,
            "origin": self.origin,
            "tasks": [list(names) for names in self.tasks],
            "repeats": len(self.repeats),
            "average_accuracy": _spread(self.average_accuracy),
            "backward_transfer": _spread(self.backward_transfer),
            "average_accuracy_after": [_spread(spread) for spread in self.average_accuracy_after],
            "matrices": [
                [[None if value != value else value for value in row] for row in matrix]
                for matrix in self.matrices.tolist()
            ],
            "memory_nodes": [len(kept.labels) for kept in memory],
            "seconds": {
                "memory": [round(repeat.memory_seconds, 3) for repeat in self.repeats],
                "learning": [round(repeat.learning_seconds, 3) for repeat in self.repeats],
            },
        }

    def __str__(self) -> str:
        return continual_markdown(self)


def continual(
    source: Any,
    *,
    method: str = "cat",
    distance: str | Distance | None = None,
    budget: int | str | None = None,
    classes_per_task: int = 2,
    order: str = "labels",
    order_seed: int = 0,
    inter_task_edges: bool = False,
    remainder: str = "last",
    scoring: str = "class",
    repeats: int = 1,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    features: str | None = None,
    data_dir: str | Path | None = None,
    split_seed: int = 0,
    out: str | Path | None = None,
    device: str = "auto",
    show_progress: bool = True,
) -> ContinualResult:
    """Learn the classes of a graph task after task, keeping a few nodes of each; measure what is forgotten.

    All tasks' memories are made first; then one classifier goes through the stream. See `make_stream` for
    the tasks, and `LearningSettings` and the settings of CaT, PUMA and SSM for what can be set.

    Args:
        source: a name, a path, a `GraphSource` or PyG's `Data`; see `load_graph`. Its split is not used.
        method: `cat` or `puma` (condensed memories), `random`, `er-gnn` or `ssm` (real nodes), `finetuning`
            (no memory) or `joint` (all tasks so far, whole).
        distance: what cat and puma match: a name (`lqm` if there is none), or an object with the two halves
            of a `Distance`.
        budget: nodes to keep of each task, or a share of its nodes such as `1%`; each class has at least one.
        classes_per_task: how many classes arrive at a time.
        order: of the classes: `labels` or `shuffled`.
        order_seed: of the shuffled order.
        inter_task_edges: whether a task's graph holds the tasks before it and the edges to them.
        remainder: `last` for a smaller last task of the classes left over, `drop` to leave them out.
        scoring: judge among all classes seen so far (`class`), or among the task's own (`task`).
        repeats: how often, with seeds seed, seed + 1, ...; the tasks and their split are the same.
        seed: everything else that is random follows from it.
        settings: of the memory (`steps`, `width`, ...) and of the classifier (`classifier`, `epochs`, ...).
        features: what the nodes of a graph without features are described by: `degree` (made anew for each
            task) or `one-hot`; see `load_graph`.
        data_dir: where the named sources are; see `load_graph`.
        split_seed: of every task's training, validation and test nodes.
        out: a run folder; a run that was stopped there goes on after its last finished part, and a finished
            one takes more repeats.
        device: `auto`, `cpu`, `cuda`, `cuda:1`, ...
        show_progress: whether to show the steps and the time left.

    Raises:
        LqmError: for anything that can't be used, before any work starts.
    """
    where = resolve_device(device)
    if not isinstance(repeats, int) or repeats < 1:
        raise ConfigError(f"repeats = {repeats!r} can't be used: it should be a whole number, at least 1")
    matched = choose(distance, DISTANCES, "distance") if isinstance(distance, str) else distance
    request = check_request(method, matched, budget, settings or {}, scoring)
    check_features(features)
    data = load_graph(
        source,
        features=features,
        # It is not used, and unlike a published one it leaves no class without a training node.
        split=None if isinstance(source, GraphSource) else "random",
        data_dir=data_dir,
        show_progress=show_progress,
    )
    words: dict[str, Any] = {
        "classes_per_task": classes_per_task,
        "order": order,
        "order_seed": order_seed,
        "inter_task_edges": inter_task_edges,
        "remainder": remainder,
        "split_seed": split_seed,
    }
    stream = make_stream(data, **words)
    plan = plan_continual(request, data, stream, seed, words)
    machine = environment(where)

    def learn(folder: Path | None) -> ContinualResult:
        lines = plan.words
        if folder and (stored := len(stored_matrices(folder))) >= repeats:
            lines = (f"{folder} is finished already, with {stored} repeats",)
        if show_progress:
            for line in lines:
                warn(line)
        found = []
        for number in range(repeats):
            own = folder / f"repeat-{number}" if folder else None
            found.append(learn_repeat(plan, Place(number, repeats, where, own, machine, show_progress)))
        return _result(plan, tuple(found), folder)

    if out is None:
        return learn(None)
    with RunFolder(Path(out), plan.config, machine) as folder:
        result = learn(folder.path)
        write_result(result, folder.path)
        return result


def _result(plan: ContinualPlan, repeats: tuple[Repeat, ...], folder: Path | None) -> ContinualResult:
    tasks = tuple(map(plan.stream.names, plan.stream.tasks))
    return ContinualResult(plan.config, tasks, repeats, folder, plan.origin)


def _spread(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation, "each": list(spread.each)}
