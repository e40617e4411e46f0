"""What the page says of streams of tasks on one graph."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from torch import Tensor

from lqm.engine.randomness import seeded
from lqm.graphs.continual import Spread, memory_latents
from lqm.graphs.continual.planning import unsplit
from lqm.graphs.judging import NODES
from lqm.graphs.networks import describe, make_network
from lqm.graphs.sources.notes import counted
from lqm.graphs.sources.source import GraphSource
from lqm.graphs.stream import make_stream
from lqm.report.cases import size_of
from lqm.report.history import metric_curves
from lqm.report.latents import Latents, measure
from lqm.report.page.answer import Answer, Line, and_more, in_points
from lqm.report.page.content import Content, Page, real_data
from lqm.report.page.explorer import explorer
from lqm.report.page.learning import learning
from lqm.report.stream_runs import StreamRun, read_streams
from lqm.report.streams import stream_title, tasks_of
from lqm.report.tables import percent
from lqm.utils.errors import ConfigError


def page_of_streams(folders: Sequence[Path], source: Any, data_dir: str | Path | None) -> Page:
    """Everything about streams of the same tasks.

    Raises:
        LqmError: when a result is damaged, or they are of different tasks.
    """
    streams = read_streams(folders)
    first = streams[0].record
    for stream in streams[1:]:
        if tasks_of(stream.record) != tasks_of(first):
            raise ConfigError(
                f"{stream.folder} and {streams[0].folder} are not of the same tasks, judged in the same way; "
                "give a report to each"
            )
    tasks = first["tasks"]
    classes = counted(sum(map(len, tasks)), "class", "classes")
    latents, missing = _latents(streams, source, data_dir)
    budgets = [_budgets(stream) for stream in streams]
    logged = learning(
        [metric_curves(stream.folder / "repeat-0" / "condense") for stream in streams], [[] for _ in streams]
    )
    curves = explorer(latents) if latents else None
    words = {
        "title": f"{first['config']['source']['name']}, task after task",
        "lead": f"{stream_title(first)}; {first['config']['source']['nodes']:,} nodes of {classes}.",
        "mean_of_repeats": _mean_of_repeats(streams),
        "cases": [_facts(stream) for stream in streams],
        "tasks": [", ".join(names) for names in tasks],
        "class_names": [name for names in tasks for name in names],
        "answers": _answers(streams, tasks, latents),
        "streams": [_rows(stream) for stream in streams],
        "budgets": budgets if any(budgets) else None,
        "latents": latents,
        "missing": missing,
        "explorer": curves,
        "learning": logged,
        "of_what": ", in the first repeat",
        "sizes_differ": len({sum(budget) for budget in budgets if budget}) > 1,
        "loading": [_loading(stream) for stream in streams],
        "manifests": [json.dumps(stream.record, indent=2, ensure_ascii=False) for stream in streams],
    }
    data: Content = {
        "labels": [stream.label for stream in streams],
        "tasks": words["tasks"],
        "matrices": [_lower(stream.matrix) for stream in streams],
        "average": [[_spread(spread) for spread in stream.average] for stream in streams],
        "transfer": [[_spread(spread) for spread in stream.transfer] for stream in streams],
        "classNames": words["class_names"],
        "budgets": {"sets": budgets, "real": None},
        "explorer": curves,
        "learning": logged,
    }
    return Page("streams.html.j2", words, data)


def _answers(
    streams: Sequence[StreamRun], tasks: Sequence[Sequence[str]], latents: Latents | None
) -> list[Answer]:
    good = [
        Line(i, f"{_value(stream.average[-1])} %", _beyond(stream.average[-1]))
        for i, stream in enumerate(streams)
    ]
    found = [
        Answer(
            "How good is it in the end?",
            good,
            f"AA: accuracy after the last task, averaged over all tasks{_mean_of_repeats(streams)}.",
        )
    ]
    joint = next((stream for stream in streams if stream.config["method"] == "joint"), None)
    below = [
        Line(i, in_points(stream.average[-1].mean - joint.average[-1].mean), "points")
        for i, stream in enumerate(streams)
        if joint and stream.config["method"] != "joint"
    ]
    if joint and below:
        note = f"{joint.label} keeps all tasks whole and reaches {_value(joint.average[-1])} %."
        found.append(Answer("How far from keeping everything?", below, note))
    transfers = [stream.transfer[-1] for stream in streams]
    forgotten = [Line(i, in_points(each.mean), _beyond(each)) for i, each in enumerate(transfers) if each]
    if forgotten:
        note = (
            "BWT: what later tasks did to the accuracy on earlier ones, in points; below 0, it was forgotten."
        )
        found.append(Answer("What was forgotten?", forgotten, note))
    worst = []
    for i, stream in enumerate(streams):
        last = stream.matrix[-1].tolist()
        lowest = [task for task, accuracy in enumerate(last) if accuracy == min(last)]
        names = f" (classes {', '.join(tasks[lowest[0]])})" if len(lowest) == 1 else ""
        worst.append(Line(i, f"task {lowest[0]}{and_more(lowest)}", f"{percent(min(last))} %{names}"))
    found.append(Answer("Which task is worst?", worst, "By its accuracy after the last task."))
    if latents:
        means = [Line(i, f"{mean:.3f}") for i, mean in enumerate(latents.means) if mean is not None]
        note = (
            "Cramér-von Mises statistic of the latent features that the first repeat keeps; lower is better, "
            "among memories of as many nodes. By one network, which is too few to tell near ones apart."
        )
        found.append(Answer("How well is the memory matched?", means, note))
    return found


def _mean_of_repeats(streams: Sequence[StreamRun]) -> str:
    """What is to be said of a number that is a mean; nothing if no stream was repeated."""
    return ", as the mean of the repeats" if any(len(stream.matrices) > 1 for stream in streams) else ""


def _facts(stream: StreamRun) -> Content:
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
        "steps": f"{config['settings']['steps']:,}" if "steps" in config["settings"] else "-",
        "time": str(timedelta(seconds=round(whole))),
    }


def _rows(stream: StreamRun) -> Content:
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
    streams: Sequence[StreamRun], source: Any, data_dir: str | Path | None
) -> tuple[Latents | None, str]:
    """What a fresh classifier finds in the memories of the first repeats; or none, and the reason."""
    if not any(stream.memories for stream in streams):
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
    memories = [stream.memories for stream in streams]
    return measure(describe(spec), memory_latents(network, tasks, memories)), ""


def _budgets(stream: StreamRun) -> list[int]:
    """Nodes that the first repeat keeps of each class, in the order of the tasks; none without a memory."""
    return [count for memory in stream.memories for count in memory.manifest["counts"]]


def _lower(matrix: Tensor) -> list[list[float]]:
    """The accuracies up to the diagonal."""
    return [row[: k + 1] for k, row in enumerate(matrix.tolist())]


def _spread(spread: Spread | None) -> Content | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation or 0.0, "each": spread.each}


def _value(spread: Spread) -> str:
    return spread.percent().partition(" ")[0].replace("-", "\N{MINUS SIGN}")


def _beyond(spread: Spread) -> str:
    return spread.percent().partition(" ")[2]


def _loading(stream: StreamRun) -> str:
    """The lines of Python that read what was kept of a task; empty without a memory."""
    if not stream.memories:
        return ""
    return f"import lqm\nsmall = lqm.load({str(stream.memories[0].path)!r})\ndata = small.to_pyg()"
