"""Results of `lqm continual`: written, read again, and labelled."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lqm.condensed import CondensedNodes, load
from lqm.evaluation.accuracy_matrix import AccuracyMatrices
from lqm.evaluation.contrasts import Side, pair_of
from lqm.evaluation.labels import distinct_labels, key_of
from lqm.evaluation.stream_schema import STREAM_FIELDS
from lqm.utils.errors import ArtifactError, LqmError
from lqm.utils.files import write_atomically
from lqm.utils.own_files import read_json, require_fields
from lqm.utils.sentences import counted

Result = dict[str, Any]

_RESULT, _IMAGE = "result.json", "accuracy-matrix.png"
_REMEDY = "give its `lqm continual` command again"


@dataclass(frozen=True, eq=False)
class StreamRun(AccuracyMatrices):
    """The result of a stream, with a short label unlike those of the others."""

    label: str
    folder: Path
    result: Result

    @property
    def config(self) -> Result:
        """Source, stream, method, distance, budget and settings."""
        config: Result = self.result["config"]
        return config

    @cached_property
    def memories(self) -> list[CondensedNodes]:
        """What the first repeat keeps of each task; nothing without a memory."""
        folder = self.folder / "repeat-0" / "memory"
        if not folder.exists():
            return []
        return [_memory(folder / f"task-{task:02d}") for task in range(self.matrices.shape[-1])]


def _memory(folder: Path) -> CondensedNodes:
    memory = load(folder)
    if not isinstance(memory, CondensedNodes) or "counts" not in memory.manifest:
        raise ArtifactError(f"{folder} is not what a stream keeps of a task; {_REMEDY}")
    return memory


def is_stream(folder: Path) -> bool:
    """Whether a folder holds the result of `lqm continual`."""
    return (folder / _RESULT).exists()


def write_result(
    folder: Path, matrices: Tensor, title: str, result: Result, draw: Callable[[Tensor, Path, str], None]
) -> None:
    """Write a result and the image of its mean matrix, unless they are there, of as many repeats or more.

    Shapes: matrices [R, K, K]; `draw` draws one of [K, K] to a file, under a title.
    """
    stored, image = stored_matrices(folder), folder / _IMAGE
    fewer = len(stored) < len(matrices)
    if fewer or not image.exists():
        draw((matrices if fewer else stored).mean(dim=0), image, title)
    if fewer:
        write_atomically(folder / _RESULT, json.dumps(result, indent=2).encode() + b"\n")


def stored_matrices(folder: Path) -> Tensor:
    """The accuracy matrices of the result in a folder, [R, K, K]; R is 0 if it is missing or damaged."""
    try:
        return _matrices(folder, read_stream(folder))
    except LqmError:
        return torch.zeros(0, 0, 0)


def read_stream(folder: Path) -> Result:
    """The result in a folder; ArtifactError if it is missing, damaged or something else."""
    path = folder / _RESULT
    try:
        result: Result = read_json(path, _REMEDY)
    except OSError as error:
        raise ArtifactError(f"{path} can't be read ({error.strerror}); {_REMEDY}") from error
    require_fields(STREAM_FIELDS, result, path, _REMEDY)
    return result


def tasks_of(result: Result) -> str:
    """What results must have in common to be compared: the tasks and their scoring."""
    config = result["config"]
    return key_of([config["source"], config["stream"], config["scoring"]])


def stream_title(result: Result) -> str:
    """Source, tasks and scoring."""
    config = result["config"]
    order = "" if config["stream"]["order"] == "labels" else ", classes shuffled"
    edges = ", with inter-task edges" if config["stream"]["inter_task_edges"] else ""
    scored = ", scored on validation nodes" if config["stream"].get("validation") else ""
    tasks = counted(len(result["tasks"]), "task", "tasks")
    return f"{config['source']['name']}: {tasks}, {config['scoring']}-incremental{order}{edges}{scored}"


def stream_sides(results: Mapping[Path, Result]) -> list[Side]:
    """Streams by their folders; those that differ by their seed alone are one side, a run a repeat."""
    sides: dict[str, Side] = {}
    for folder, result in results.items():
        config = result["config"]
        made = {name: part for name, part in config.items() if name not in ("seed", "sketch")}
        side = sides.setdefault(key_of([made, "sketch" in config]), Side(config, folder, {}))
        for repeat, average in enumerate(result["average_accuracy"]["each"]):
            side.scores[pair_of(config, repeat)] = {0: average}
    return [*sides.values()]


def read_streams(folders: Sequence[Path]) -> list[StreamRun]:
    """Read the results in folders; see `read_stream`."""
    results = [read_stream(folder) for folder in folders]
    labels = distinct_labels([result["config"] for result in results], folders)
    return [
        StreamRun(_matrices(folder, result), label, folder, result)
        for label, folder, result in zip(labels, folders, results, strict=True)
    ]


def _matrices(folder: Path, result: Result) -> Tensor:
    tasks = len(result["tasks"])
    try:
        rows = [[[torch.nan if x is None else x for x in row] for row in m] for m in result["matrices"]]
        matrices = torch.tensor(rows, dtype=torch.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        matrices = torch.zeros(0)
    whole = matrices.shape[1:] == (tasks, tasks) and matrices.numel() > 0
    known = matrices.nan_to_num(torch.inf).tril() if whole else matrices
    if not (whole and ((known >= 0) & (known <= 1)).all()):
        raise ArtifactError(f"the accuracies in {folder / _RESULT} are damaged; {_REMEDY}")
    return matrices
