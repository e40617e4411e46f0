"""Tables of runs and of streams side by side: a row a method, distance and budget."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

from rich.table import Table

from lqm.condensed import CondensedSet
from lqm.condensed.described import IMPORTED
from lqm.evaluation.comparison import Comparison, Repeats, comparisons
from lqm.evaluation.contrasts import NOTE as PAIRS_NOTE
from lqm.evaluation.contrasts import Side, contrasts, least_ps
from lqm.evaluation.evaluator import refuse_memory
from lqm.evaluation.labels import distance_of, key_of, what_differs
from lqm.evaluation.spread import Spread
from lqm.evaluation.streams import Result, read_stream, stream_sides, stream_title, tasks_of
from lqm.report.tables import contrast_table, plain_table

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
_NO_PAIRS = (
    "no pairs: two runs that differ in the distance, or else in the method, form one where they share the "
    "condensation seed, the evaluation seed and the bank."
)


def comparison_tables(sets: Sequence[CondensedSet]) -> Iterator[Table | str]:
    """Only runs that were condensed from the same data and evaluated in the same way share a table.

    Runs that differ by their seed alone share a row. Where there are several seeds, the differences of pairs
    follow, and at last how to read these.
    """
    return _with_differences(map(_table, ordered_comparisons(sets)))


def ordered_comparisons(sets: Sequence[CondensedSet]) -> list[Comparison]:
    """What shares a table, in the order of the tables."""
    for condensed in sets:
        refuse_memory(condensed.manifest)
    return sorted(comparisons(sets), key=_place)


def ordered_repeats(found: Comparison) -> list[Repeats]:
    """The rows of a table, in their order."""
    return sorted(found.repeats, key=_order)


def stream_tables(folders: Sequence[Path]) -> Iterator[Table | str]:
    """Only results on the same tasks that were evaluated in the same way share a table.

    The differences of pairs of repeats follow as in `comparison_tables`.
    """
    return _with_differences(map(_stream_table, streams_by_tasks(folders)))


def streams_by_tasks(folders: Sequence[Path]) -> list[dict[Path, Result]]:
    """Results by folder, those on the same tasks together, in the order of the tables."""
    tables: defaultdict[str, dict[Path, Result]] = defaultdict(dict)
    for folder in folders:
        result = read_stream(folder)
        tables[tasks_of(result)][folder] = result
    return [results for _, results in sorted(tables.items())]


def _with_differences(tables: Iterable[tuple[Table, list[Side]]]) -> Iterator[Table | str]:
    paired = False
    for table, sides in tables:
        yield table
        if found := contrasts(sides):
            yield contrast_table([each.cells for each in found], least_ps(found))
            paired = True
        elif len(sides) > 1 and any(len(side.scores) > 1 for side in sides):
            yield _NO_PAIRS
    if paired:
        yield PAIRS_NOTE


def _table(found: Comparison) -> tuple[Table, list[Side]]:
    runs = ordered_repeats(found)
    size = "per\nclass" if "per_class" in runs[0].manifest else "budget"
    header = ("method", "distance", size, *_COLUMNS)
    different = what_differs([run.manifest for run in runs])
    table = plain_table(header, [_row(repeats, found) for repeats in runs], different, found.title)
    return table, [run.side for run in runs]


def _stream_table(results: Mapping[Path, Result]) -> tuple[Table, list[Side]]:
    each = [*results.values()]
    different = what_differs([result["config"] for result in each])
    table = plain_table(_STREAM_COLUMNS, [*map(_stream_row, each)], different, stream_title(each[0]))
    return table, stream_sides(results)


def _place(found: Comparison) -> str:
    return key_of(found.repeats[0].manifest["source"]) + (key_of(found.protocol) if found.protocol else "")


def _order(repeats: Repeats) -> list[str]:
    made = (repeats.manifest[name] for name in ("method", "distance", "steps", "settings"))
    return [str(part) for part in (repeats.budget, *made)]


def _row(repeats: Repeats, found: Comparison) -> tuple[str, ...]:
    numbers = ["-"] * 3
    if found.protocol:
        numbers = [
            repeats.accuracy.percent(),
            f"{repeats.cramer_von_mises('before').mean:.3f}",
            f"{100 * repeats.extremes('before').mean:.2f}",
        ]
    method = repeats.manifest["method"]
    steps, seconds = "-", "-"  # of a set of others neither is known
    if method != IMPORTED:
        steps = f"{repeats.manifest['steps']:,}"
        seconds = f"{fmean(condensed.manifest['seconds'] for condensed in repeats.sets):,.0f}"
    runs = str(len(repeats.sets))
    return method, repeats.distance or "-", _budget(repeats), steps, runs, *numbers, seconds


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
