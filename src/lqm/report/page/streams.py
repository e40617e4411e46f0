"""What the page says of streams of tasks on one graph."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from torch import Tensor

from lqm.condensed import CondensedNodes, load
from lqm.engine.randomness import seeded
from lqm.errors import ArtifactError, ConfigError
from lqm.graphs.continual import Spread, average_accuracies, backward_transfer, memory_latents
from lqm.graphs.continual.planning import unsplit
from lqm.graphs.judging import NODES
from lqm.graphs.networks import describe, make_network
from lqm.graphs.source import GraphSource
from lqm.graphs.stream import make_stream
from lqm.report.cases import distinct_labels, size_of
from lqm.report.continual import stored_matrices
from lqm.report.history import metric_curves
from lqm.report.latents import Latents, measure
from lqm.report.page.content import Content, Page, real_data
from lqm.report.page.explorer import explorer
from lqm.report.page.summary import Answer, Line, in_points
from lqm.report.streams import read_stream, stream_title, tasks_of
from lqm.report.tables import percent


@dataclass(frozen=True, eq=False)
class _Stream:
    """One of the streams on a page: what `lqm continual` wrote, and its matrices, [R, K, K]."""

    label: str
    folder: Path
    record: dict[str, Any]
    matrices: Tensor

    @property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.record["config"]
        return config

    @property
    def matrix(self) -> Tensor:
        """Mean over repeats, [K, K]."""
        return self.matrices.mean(dim=0)

    @property
    def average(self) -> list[Spread]:
        """AA after each task."""
        return [Spread(tuple(column)) for column in average_accuracies(self.matrices).T.tolist()]

    @property
    def transfer(self) -> list[Spread | None]:
        """BWT after each task; none after the first."""
        found = [
            backward_transfer(self.matrices[:, : k + 1, : k + 1]) for k in range(self.matrices.shape[-1])
        ]
        return [None if each is None else Spread(tuple(each.tolist())) for each in found]


def page_of_streams(folders: Sequence[Path], source: Any, data_dir: str | Path | None) -> Page:
    """Everything about streams of the same tasks.

    Raises:
        LqmError: when a result is damaged, or they are of different tasks.
    """
    records = [read_stream(folder) for folder in folders]
    for folder, record in zip(folders[1:], records[1:], strict=True):
        if tasks_of(record) != tasks_of(records[0]):
            raise ConfigError(
                f"{folder} and {folders[0]} are not of the same tasks, judged in the same way; "
                "give a report to each"
            )
    labels = distinct_labels([record["config"] for record in records], folders)
    streams = [
        _Stream(label, folder, record, stored_matrices(folder))
        for label, folder, record in zip(labels, folders, records, strict=True)
    ]
    tasks = records[0]["tasks"]
    for stream in streams:
        if stream.matrices.shape[1:] != (len(tasks), len(tasks)):
            raise ArtifactError(
                f"the accuracies in {stream.folder / 'result.json'} are damaged; "
                "give its `lqm continual` command again"
            )
    latents, missing = _latents(streams, source, data_dir)
    budgets = [_budgets(stream) for stream in streams]
    curves = [metric_curves(stream.folder / "repeat-0" / "condense") for stream in streams]
    words = {
        "title": f"{records[0]['config']['source']['name']}, task after task",
        "lead": f"{stream_title(records[0])}.",
        "cases": [_facts(stream) for stream in streams],
        "tasks": [", ".join(names) for names in tasks],
        "class_names": [name for names in tasks for name in names],
        "answers": _answers(streams, tasks),
        "streams": [_rows(stream) for stream in streams],
        "budgets": budgets if any(budgets) else None,
        "latents": latents,
        "missing": missing,
        "metrics": sorted({name for found in curves for name in found}),
        "loading": [_loading(stream) for stream in streams],
        "manifests": [json.dumps(stream.record, indent=2, ensure_ascii=False) for stream in streams],
    }
    data: Content = {
        "labels": labels,
        "tasks": words["tasks"],
        "matrices": [_lower(stream.matrix) for stream in streams],
        "average": [[_spread(spread) for spread in stream.average] for stream in streams],
        "transfer": [[_spread(spread) for spread in stream.transfer] for stream in streams],
        "classNames": words["class_names"],
        "budgets": {"sets": budgets, "real": None},
        "explorer": explorer(latents) if latents else None,
        "curves": [{name: curve._asdict() for name, curve in found.items()} for found in curves],
        "evaluations": [[] for _ in streams],
    }
    return Page("streams.html.j2", words, data)


def _answers(streams: Sequence[_Stream], tasks: Sequence[Sequence[str]]) -> list[Answer]:
    good = [
        Line(i, f"{_value(stream.average[-1])} %", _beyond(stream.average[-1]))
        for i, stream in enumerate(streams)
    ]
    found = [
        Answer(
            "How good is it in the end?",
            good,
            "AA: accuracy after the last task, averaged over all tasks, as the mean of the repeats.",
        )
    ]
    joint = next((stream for stream in streams if stream.config["method"] == "joint"), None)
    if joint:
        ahead = [
            Line(i, in_points(stream.average[-1].mean - joint.average[-1].mean), "points")
            for i, stream in enumerate(streams)
            if stream is not joint
        ]
        note = f"Joint training, which keeps all tasks whole, reaches {_value(joint.average[-1])} %."
        found.append(Answer("How far from keeping everything?", ahead, note))
    transfers = [stream.transfer[-1] for stream in streams]
    forgotten = [Line(i, _value(each), _beyond(each)) for i, each in enumerate(transfers) if each]
    if forgotten:
        note = (
            "BWT: what later tasks did to the accuracy on earlier ones, in points; below 0, it was forgotten."
        )
        found.append(Answer("What was forgotten?", forgotten, note))
    worst = []
    for i, stream in enumerate(streams):
        last = stream.matrix[-1]
        task = int(last.argmin())
        worst.append(Line(i, f"task {task}", f"{percent(last[task].item())} % ({', '.join(tasks[task])})"))
    found.append(Answer("Which task is worst?", worst, "By its accuracy after the last task."))
    return found


def _facts(stream: _Stream) -> Content:
    config, seconds = stream.config, stream.record["seconds"]
    whole = fmean(seconds["memory"]) + fmean(seconds["learning"])
    return {
        "label": stream.label,
        "folder": str(stream.folder),
        "method": config["method"],
        "distance": config["distance"]["name"] if config["distance"] else "none",
        "size": f"{size_of(config)} a task" if config["budget"] else "none",
        "seed": config["seed"],
        "repeats": len(stream.matrices),
        "time": str(timedelta(seconds=round(whole))),
    }


def _rows(stream: _Stream) -> Content:
    """The matrix, AA and BWT as a table."""
    matrix = stream.matrix
    return {
        "rows": [
            {
                "accuracies": [percent(matrix[k, i].item()) if i <= k else "" for i in range(len(matrix))],
                "average": average.percent(),
                "transfer": transfer.percent() if transfer else "-",
            }
            for k, (average, transfer) in enumerate(zip(stream.average, stream.transfer, strict=True))
        ],
    }


def _latents(
    streams: Sequence[_Stream], source: Any, data_dir: str | Path | None
) -> tuple[Latents | None, str]:
    """What a fresh classifier finds in the memories of the first repeats; or none, and the reason."""
    memories = [_memories(stream) for stream in streams]
    if not any(memories):
        return None, ""
    config = streams[0].config
    if isinstance(source, GraphSource):
        source = unsplit(source)
    manifest = {"source": config["source"], "origin": streams[0].record.get("origin")}
    data, missing = real_data(NODES, manifest, source, data_dir)
    if data is None:
        return None, missing
    tasks = make_stream(data, **config["stream"])
    spec = config["settings"]["classifier"]
    with seeded(config["seed"], "report"):
        network = make_network(spec, tasks.tasks[0].graph.width, len(tasks.class_names))
    return measure(
        describe(spec), [memory_latents(network, tasks, own) if own else [] for own in memories]
    ), ""


def _memories(stream: _Stream) -> list[CondensedNodes]:
    """What the first repeat keeps of each task; nothing without a memory."""
    folders = (stream.folder / "repeat-0" / "memory").glob("task-*")
    found = [load(path) for path in sorted(folders, key=lambda path: int(path.name.removeprefix("task-")))]
    return [memory for memory in found if isinstance(memory, CondensedNodes)]


def _budgets(stream: _Stream) -> list[int]:
    """Nodes that the first repeat keeps of each class, in the order of the tasks; none without a memory."""
    return [count for memory in _memories(stream) for count in memory.manifest["counts"]]


def _lower(matrix: Tensor) -> list[list[float]]:
    """The accuracies up to the diagonal."""
    return [row[: k + 1] for k, row in enumerate(matrix.tolist())]


def _spread(spread: Spread | None) -> Content | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation or 0.0, "each": spread.each}


def _value(spread: Spread) -> str:
    return spread.percent().partition(" ")[0]


def _beyond(spread: Spread) -> str:
    return spread.percent().partition(" ")[2]


def _loading(stream: _Stream) -> str:
    """The lines of Python that read what was kept of a task."""
    memory = stream.folder / "repeat-0" / "memory" / "task-00"
    if not memory.exists():
        return "# this method keeps no memory"
    return f"import lqm\nsmall = lqm.load({str(memory)!r})\ndata = small.to_pyg()"
