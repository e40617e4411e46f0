"""Tables of runs and of streams side by side: a row a method, distance and budget."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from rich.table import Table

from lqm.condensed import CondensedSet
from lqm.evaluation.comparison import Comparison, Repeats, comparisons
from lqm.evaluation.evaluator import refuse_memory
from lqm.evaluation.labels import distance_of, key_of, what_differs
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import Result, read_stream, stream_title, tasks_of
from lqm.report.tables import plain_table

_COLUMNS = ("steps", "runs", "accuracy %", "CvM", "extremes\n%", "seconds")
_STREAM_COLUMNS = ("method", "distance", "budget", "repeats", "AA %", "BWT %", "seconds")
NOTE = (
    "accuracy: mean ± sample standard deviation, over runs (each the mean of its networks) where there are "
    "several, else over the networks of one run, which is one condensation and ranks no methods or "
    "distances; CvM (to be compared between sets of as many records) and extremes: before the training; "
    "seconds: of the condensation."
)
STREAM_NOTE = (
    "AA: average accuracy after the last task; BWT: backward transfer, below 0 where tasks were forgotten; "
    "mean ± sample standard deviation over repeats; seconds: of one repeat, memory and learning."
)


def comparison_tables(sets: Sequence[CondensedSet]) -> Iterator[Table]:
    """Only runs that were condensed from the same data and evaluated in the same way share a table.

    Runs that differ by their seed alone share a row.
    """
    for condensed in sets:
        refuse_memory(condensed.manifest)
    for found in sorted(comparisons(sets), key=_place):
        runs = sorted(found.repeats, key=_order)
        size = "per\nclass" if "per_class" in runs[0].manifest else "budget"
        rows = [_row(repeats, found) for repeats in runs]
        header = ("method", "distance", size, *_COLUMNS)
        yield plain_table(header, rows, what_differs([run.manifest for run in runs]), _title(found))


def stream_tables(folders: Sequence[Path]) -> Iterator[Table]:
    """Only results on the same tasks that were evaluated in the same way share a table."""
    tables: defaultdict[str, list[Result]] = defaultdict(list)
    for result in map(read_stream, folders):
        tables[tasks_of(result)].append(result)
    for _, results in sorted(tables.items()):
        different = what_differs([result["config"] for result in results])
        yield plain_table(_STREAM_COLUMNS, [*map(_stream_row, results)], different, stream_title(results[0]))


def _place(found: Comparison) -> str:
    return key_of(found.repeats[0].manifest["source"]) + (key_of(found.protocol) if found.protocol else "")


def _order(repeats: Repeats) -> list[str]:
    made = (repeats.manifest[name] for name in ("method", "distance", "steps", "settings"))
    return [str(part) for part in (repeats.budget, *made)]


def _title(found: Comparison) -> str:
    if not found.protocol:
        return f"{found.source}: not evaluated yet, run lqm evaluate"
    protocol = found.protocol
    return f"{found.source}: {protocol['name']}, {protocol['epochs']} epochs, {protocol['network']}"


def _row(repeats: Repeats, found: Comparison) -> tuple[str, ...]:
    numbers = ["-"] * 3
    if found.protocol:
        numbers = [
            repeats.accuracy.percent(),
            f"{repeats.cramer_von_mises('before').mean:.3f}",
            f"{100 * repeats.extremes('before').mean:.2f}",
        ]
    return (
        repeats.manifest["method"],
        repeats.distance or "-",
        _budget(repeats),
        f"{repeats.manifest['steps']:,}",
        str(len(repeats.sets)),
        *numbers,
        f"{fmean(condensed.manifest['seconds'] for condensed in repeats.sets):,.0f}",
    )


def _budget(repeats: Repeats) -> str:
    """Images of each class, or of mosaics how many images they are; or nodes in all."""
    cells = repeats.manifest.get("mosaic", 1) ** 2
    return f"{repeats.budget:,} mosaics\n= {cells * repeats.budget:,}" if cells > 1 else str(repeats.budget)


def _stream_row(result: Result) -> tuple[str, ...]:
    config, seconds = result["config"], result["seconds"]
    return (
        config["method"],
        distance_of(config) or "-",
        str(config["budget"] or "-"),
        str(result["repeats"]),
        *(
            Spread(tuple(spread["each"])).percent() if spread else "-"
            for spread in (result["average_accuracy"], result["backward_transfer"])
        ),
        f"{fmean(seconds['memory']) + fmean(seconds['learning']):,.0f}",
    )
