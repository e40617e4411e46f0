"""Streams side by side: a table a source and stream of tasks, a row a method, distance and budget."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.table import Table

from lqm.graphs.continual import Spread
from lqm.graphs.sources.notes import counted
from lqm.report.comparison import what_differs
from lqm.report.tables import plain_table
from lqm.utils.errors import ArtifactError

Record = dict[str, Any]

_COLUMNS = ("method", "distance", "budget", "repeats", "AA %", "BWT %", "seconds")
_PARTS = {"config", "tasks", "average_accuracy", "backward_transfer", "matrices", "seconds"}
STREAM_NOTE = (
    "AA: average accuracy after the last task; BWT: backward transfer, below 0 where tasks were forgotten; "
    "mean and sample deviation over repeats; seconds: of one repeat, memory and learning."
)


def is_stream(folder: Path) -> bool:
    """Whether a folder holds the result of `lqm continual`."""
    return (folder / "result.json").exists()


def stream_tables(folders: Sequence[Path]) -> Iterator[Table]:
    """Only results on the same tasks that were judged in the same way share a table."""
    tables: defaultdict[str, list[Record]] = defaultdict(list)
    for folder in folders:
        record = read_stream(folder)
        tables[tasks_of(record)].append(record)
    for key in sorted(tables):
        records = tables[key]
        different = what_differs([record["config"] for record in records])
        yield plain_table(_COLUMNS, [_row(record) for record in records], different, stream_title(records[0]))


def read_stream(folder: Path) -> Record:
    """What `lqm continual` found.

    Raises:
        ArtifactError: when its file is missing, damaged or something else.
    """
    path = folder / "result.json"
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
    return json.dumps([config["source"], config["stream"], config["scoring"]], sort_keys=True)


def stream_title(record: Record) -> str:
    """Source, tasks and way of judging."""
    config = record["config"]
    order = "" if config["stream"]["order"] == "labels" else ", classes shuffled"
    edges = ", with inter-task edges" if config["stream"]["inter_task_edges"] else ""
    tasks = counted(len(record["tasks"]), "task", "tasks")
    return f"{config['source']['name']}: {tasks}, {config['scoring']}-incremental{order}{edges}"


def _row(record: Record) -> tuple[str, ...]:
    config, seconds = record["config"], record["seconds"]
    return (
        config["method"],
        config["distance"]["name"] if config["distance"] else "-",
        str(config["budget"] or "-"),
        str(record["repeats"]),
        _percent(record["average_accuracy"]),
        _percent(record["backward_transfer"]),
        f"{fmean(seconds['memory']) + fmean(seconds['learning']):,.0f}",
    )


def _percent(spread: Record | None) -> str:
    return Spread(tuple(spread["each"])).percent() if spread else "-"
