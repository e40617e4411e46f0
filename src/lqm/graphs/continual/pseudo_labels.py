"""Nodes whose class is predicted, which join the real distribution of their task (PUMA)."""

import time
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes
from lqm.engine import RunFolder
from lqm.engine.progress import Progress
from lqm.graphs.continual.learning import Learner, of_memory
from lqm.graphs.continual.settings import CondensedReplaySettings
from lqm.graphs.networks import Inputs
from lqm.graphs.stream import Stream, Task
from lqm.graphs.training import together


def find_pseudo_labelled(
    stream: Stream,
    kept: Sequence[CondensedNodes],
    settings: CondensedReplaySettings,
    seed: int,
    device: torch.device,
    folder: RunFolder | None,
    *,
    show_progress: bool,
) -> tuple[list[list[Tensor]], float]:
    """Nodes of each task that join it with a predicted class, by class, and the seconds that it took.

    The class is that of a fresh classifier, trained on the memory of all tasks so far. A node that is
    predicted to be of another task does not join. Tasks that are finished in the folder are not done again.

    Args:
        stream: the tasks.
        kept: the memory of each.
        settings: of the classifier; says which nodes, and how likely a prediction has to be.
        seed: everything random follows from it.
        device: where to compute.
        folder: keeps what was found of each task; None to keep nothing.
        show_progress: whether to show the tasks and the time left.
    """
    checkpoint = folder.restore() if folder else None
    found = dict(checkpoint.state) if checkpoint else {}
    first = checkpoint.step if checkpoint else 0
    seconds = float(found.pop("seconds", 0.0))
    learner = Learner(stream, replace(settings, retrain=True), seed, device, "pseudo-labels")
    memories = [of_memory(memory, device) for memory in kept]
    with Progress("pseudo-labels", len(stream.tasks), first, shown=show_progress) as bar:
        for task in stream.tasks[first:]:
            began = time.monotonic()
            learner.learn(task, together(memories[: task.number + 1]))
            joining = _believed(learner, task, settings, device)
            found |= {_key(output): nodes for output, nodes in zip(task.outputs, joining, strict=True)}
            seconds += time.monotonic() - began
            if folder:
                spent = {"seconds": torch.tensor(seconds, dtype=torch.float64)}
                folder.save(task.number + 1, found | spent)
            bar.update(task.number + 1, {"nodes of the task": sum(map(len, joining))})
    return [[found[_key(output)] for output in task.outputs] for task in stream.tasks], seconds


def _key(output: int) -> str:
    return f"class-{output}"


@torch.no_grad()
def _believed(
    learner: Learner, task: Task, settings: CondensedReplaySettings, device: torch.device
) -> list[Tensor]:
    """The nodes of each class of a task of which the learner is sure enough."""
    nodes = task.validation if settings.pseudo_labels == "validation" else task.test
    inputs = Inputs(task.graph.features, task.graph.adjacency, device)
    logits = learner.network.eval()(inputs)[nodes.to(device)]
    first = task.outputs.start if settings.pseudo_among == "task" else 0
    likely = logits[:, first : task.outputs.stop].softmax(dim=1).max(dim=1)
    believed = (likely.values >= settings.pseudo_threshold).cpu()
    classes = likely.indices.cpu() + first
    return [nodes[believed & (classes == own)] for own in task.outputs]
