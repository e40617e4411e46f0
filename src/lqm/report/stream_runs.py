"""Streams of tasks, read and named for a reader who sees several of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes, load
from lqm.graphs.continual import Spread, average_accuracies, backward_transfer
from lqm.report.cases import distinct_labels
from lqm.report.streams import Record, read_stream
from lqm.utils.errors import ArtifactError


@dataclass(frozen=True, eq=False)
class StreamRun:
    """What `lqm continual` found.

    Attributes:
        label: short, and unlike those of the others.
        folder: where it was read from.
        record: what its file holds.
        matrices: accuracies A[r, k, i] in repeat r on task i after task k, [R, K, K]; NaN above the diagonal.
    """

    label: str
    folder: Path
    record: Record
    matrices: Tensor

    @property
    def config(self) -> dict[str, Any]:
        """Source, stream, method, distance, budget and settings."""
        config: dict[str, Any] = self.record["config"]
        return config

    @property
    def matrix(self) -> Tensor:
        """The mean over repeats, [K, K]."""
        return self.matrices.mean(dim=0)

    @property
    def average(self) -> list[Spread]:
        """AA after each task."""
        return [Spread(tuple(column)) for column in average_accuracies(self.matrices).T.tolist()]

    @property
    def transfer(self) -> list[Spread | None]:
        """BWT after each task; none after the first."""
        tasks = self.matrices.shape[-1]
        found = [backward_transfer(self.matrices[:, : k + 1, : k + 1]) for k in range(tasks)]
        return [None if each is None else Spread(tuple(each.tolist())) for each in found]

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


def read_streams(folders: Sequence[Path]) -> list[StreamRun]:
    """Read what `lqm continual` wrote.

    Raises:
        ArtifactError: when it is missing, damaged or something else.
    """
    records = [read_stream(folder) for folder in folders]
    labels = distinct_labels([record["config"] for record in records], folders)
    return [
        StreamRun(label, folder, record, matrices_of(folder, record))
        for label, folder, record in zip(labels, folders, records, strict=True)
    ]


def matrices_of(folder: Path, record: Record) -> Tensor:
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
