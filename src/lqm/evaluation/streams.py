"""Results of `lqm continual`: written, read again, and named for a reader who sees several at once."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes, load
from lqm.evaluation.accuracy_matrix import AccuracyMatrices
from lqm.evaluation.labels import distinct_labels, key_of
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically
from lqm.utils.sentences import counted

Record = dict[str, Any]

_RESULT, _IMAGE = "result.json", "accuracy-matrix.png"
_PARTS = {"config", "tasks", "average_accuracy", "backward_transfer", "matrices", "seconds"}


@dataclass(frozen=True, eq=False)
class StreamRun(AccuracyMatrices):
    """What `lqm continual` found.

    Attributes:
        label: short, and unlike those of the others.
        folder: where it was read from.
        record: what its file holds.
    """

    label: str
    folder: Path
    record: Record

    @property
    def config(self) -> Record:
        """Source, stream, method, distance, budget and settings."""
        config: Record = self.record["config"]
        return config

    @cached_property
    def memories(self) -> list[CondensedNodes]:
        """What the first repeat keeps of each task; nothing without a memory.

        Raises:
            ArtifactError: when some of it is missing or damaged.
        """
        folder = self.folder / "repeat-0" / "memory"
        if not folder.exists():
            return []
        found = [load(folder / f"task-{task:02d}") for task in range(self.matrices.shape[-1])]
        return [memory for memory in found if isinstance(memory, CondensedNodes)]


def is_stream(folder: Path) -> bool:
    """Whether a folder holds the result of `lqm continual`."""
    return (folder / _RESULT).exists()


def write_result(
    folder: Path, matrices: Tensor, title: str, record: Record, draw: Callable[[Tensor, Path, str], None]
) -> None:
    """Write a result and the image of its mean matrix, unless they are there, of as many repeats or more.

    Args:
        folder: of the run.
        matrices: its accuracies, [R, K, K].
        title: of the image.
        record: what is written beside them.
        draw: draws a matrix, [K, K], to a file, under a title.
    """
    stored, image = stored_matrices(folder), folder / _IMAGE
    fewer = len(stored) < len(matrices)
    if fewer or not image.exists():
        draw((matrices if fewer else stored).mean(dim=0), image, title)
    if fewer:
        write_atomically(folder / _RESULT, json.dumps(record, indent=2).encode() + b"\n")


def stored_matrices(folder: Path) -> Tensor:
    """The accuracy matrices of the result in a folder, [R, K, K]; R is 0 if it is missing or damaged."""
    try:
        return _matrices(folder, read_stream(folder))
    except ArtifactError:
        return torch.zeros(0, 0, 0)


def read_stream(folder: Path) -> Record:
    """What `lqm continual` found.

    Raises:
        ArtifactError: when its file is missing, damaged or something else.
    """
    path = folder / _RESULT
    try:
        record: Record = json.loads(path.read_bytes())
        if record.keys() >= _PARTS:
            return record
    except (OSError, ValueError, AttributeError) as error:
        raise ArtifactError(
            f"{path} can't be read ({error}); give its `lqm continual` command again"
        ) from error
    raise ArtifactError(f"{path} is not what `lqm continual` writes; give its command again")


def tasks_of(record: Record) -> str:
    """What results must have in common to be compared: the tasks and the way of judging."""
    config = record["config"]
    return key_of([config["source"], config["stream"], config["scoring"]])


def stream_title(record: Record) -> str:
    """Source, tasks and way of judging."""
    config = record["config"]
    order = "" if config["stream"]["order"] == "labels" else ", classes shuffled"
    edges = ", with inter-task edges" if config["stream"]["inter_task_edges"] else ""
    tasks = counted(len(record["tasks"]), "task", "tasks")
    return f"{config['source']['name']}: {tasks}, {config['scoring']}-incremental{order}{edges}"


def read_streams(folders: Sequence[Path]) -> list[StreamRun]:
    """Read what `lqm continual` wrote.

    Raises:
        ArtifactError: when it is missing, damaged or something else.
    """
    records = [read_stream(folder) for folder in folders]
    labels = distinct_labels([record["config"] for record in records], folders)
    return [
        StreamRun(_matrices(folder, record), label, folder, record)
        for label, folder, record in zip(labels, folders, records, strict=True)
    ]


def _matrices(folder: Path, record: Record) -> Tensor:
    """The accuracy matrices of a result, [R, K, K].

    Raises:
        ArtifactError: when they are damaged.
    """
    tasks = len(record["tasks"])
    try:
        numbers = [[[torch.nan if x is None else x for x in row] for row in m] for m in record["matrices"]]
        found = torch.tensor(numbers, dtype=torch.float64)
    except (TypeError, ValueError):
        found = torch.zeros(0)
    whole = found.shape[1:] == (tasks, tasks) and found.numel() > 0
    if not (whole and torch.isfinite(found.nan_to_num(torch.inf).tril()).all()):
        raise ArtifactError(
            f"the accuracies in {folder / 'result.json'} are damaged; give its `lqm continual` command again"
        )
    return found
