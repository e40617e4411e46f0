"""The page of streams of tasks on one graph."""

from collections.abc import Sequence
from datetime import timedelta
from statistics import fmean

from torch import Tensor

from lqm.evaluation.history import metric_curves
from lqm.evaluation.labels import distance_of, size_of
from lqm.evaluation.latents import Latents
from lqm.evaluation.markdown import percent
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import StreamRun, stream_title, tasks_of
from lqm.report.page.content import Content, Page, shown_record
from lqm.report.page.differences import differences_of_streams
from lqm.report.page.explorer import explorer
from lqm.report.page.learning import learning
from lqm.report.page.maps import maps
from lqm.report.page.stream_answers import (
    BOUNDS,
    answers_of_streams,
    mean_of_repeats,
    verdicts_of_streams,
)
from lqm.utils.errors import ConfigError
from lqm.utils.paths import shown_path
from lqm.utils.sentences import counted


def require_same_tasks(streams: Sequence[StreamRun]) -> None:
    """Refuse streams of different tasks or scoring, by the name of the first which does not fit."""
    for stream in streams[1:]:
        if tasks_of(stream.result) != tasks_of(streams[0].result):
            raise ConfigError(
                f"{stream.folder} and {streams[0].folder} are not of the same tasks, evaluated in the "
                "same way; give a report to each"
            )


def page_of_streams(streams: Sequence[StreamRun], latents: Latents | None, missing: str = "") -> Page:
    """Everything about streams of the same tasks.

    `latents` are the features of the memories of the first repeats under a fresh classifier; `missing` is
    why there are none.
    """
    first = streams[0].result
    tasks = first["tasks"]
    classes = counted(sum(map(len, tasks)), "class", "classes")
    known = first["config"]["source"].get("nodes")
    nodes = "" if known is None else f"{known:,} nodes of "
    budgets = [_budgets(stream) for stream in streams]
    logged = learning(
        [metric_curves(stream.folder / "repeat-0" / "condense") for stream in streams], [[] for _ in streams]
    )
    differences = differences_of_streams(streams)
    curves = explorer(latents) if latents else None
    projected = maps(latents) if latents else None
    variables = {
        "title": f"{first['config']['source']['name']}, task after task",
        "lead": f"{stream_title(first)}; {nodes}{classes}.",
        "mean_of_repeats": mean_of_repeats(streams),
        "cases": [_facts(stream) for stream in streams],
        "tasks": [", ".join(names) for names in tasks],
        "class_names": [name for names in tasks for name in names],
        "verdicts": verdicts_of_streams(streams),
        "warnings": _warnings(streams),
        "answers": answers_of_streams(streams, tasks, latents),
        "streams": [_rows(stream) for stream in streams],
        "differences": differences,
        "budgets": budgets if any(budgets) else None,
        "latents": latents,
        "missing": missing,
        "explorer": curves,
        "maps": projected,
        "learning": logged,
        "of_what": ", in the first repeat",
        "sizes_differ": len({sum(budget) for budget in budgets if budget}) > 1,
        "loading": [_loading(stream) for stream in streams],
        "manifests": [shown_record(stream.result) for stream in streams],
    }
    data: Content = {
        "bounds": [BOUNDS.get(stream.config["method"]) for stream in streams],
        "labels": [stream.label for stream in streams],
        "tasks": variables["tasks"],
        "matrices": [_lower(stream.mean) for stream in streams],
        "average": [[_spread(spread) for spread in stream.average] for stream in streams],
        "transfer": [[_spread(spread) for spread in stream.transfer] for stream in streams],
        "classNames": variables["class_names"],
        "budgets": {"sets": budgets, "real": None},
        "explorer": curves,
        "maps": projected,
        "learning": logged,
        "differences": differences and [table["pairs"] for table in differences["tables"]],
    }
    return Page("streams.html.j2", variables, data)


def _warnings(streams: Sequence[StreamRun]) -> list[str]:
    """What is wrong with memories, after the name of the stream where there are several.

    Results of older versions say nothing of it.
    """
    return [
        f"{stream.label}: " * (len(streams) > 1) + line
        for stream in streams
        for line in stream.result.get("warnings", ())
    ]


def _facts(stream: StreamRun) -> Content:
    config, seconds = stream.config, stream.result["seconds"]
    whole = fmean(seconds["memory"]) + fmean(seconds["learning"])
    return {
        "label": stream.label,
        "folder": shown_path(stream.folder),
        "method": config["method"],
        "distance": distance_of(config) or "none",
        "size": f"{size_of(config)} a task" if config["budget"] else "none",
        "seed": config["seed"],
        "repeats": len(stream.matrices),
        "steps": f"{config['settings']['steps']:,}" if "steps" in config["settings"] else "-",
        "time": str(timedelta(seconds=round(whole))),
    }


def _rows(stream: StreamRun) -> Content:
    matrix = stream.mean
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


def _budgets(stream: StreamRun) -> list[int]:
    """Nodes that the first repeat keeps of each class, in the order of the tasks; none without a memory."""
    return [count for memory in stream.memories for count in memory.manifest["counts"]]


def _lower(matrix: Tensor) -> list[list[float]]:
    return [row[: k + 1] for k, row in enumerate(matrix.tolist())]


def _spread(spread: Spread | None) -> Content | None:
    if spread is None:
        return None
    return {"mean": spread.mean, "deviation": spread.deviation, "each": spread.each}


def _loading(stream: StreamRun) -> str:
    """The lines of Python that load the memory of a task; empty without one."""
    if not stream.memories:
        return ""
    path = shown_path(stream.folder) + "/repeat-0/memory/task-00"
    return f"import lqm\ncondensed = lqm.load({path!r})\ndata = condensed.to_pyg()"
