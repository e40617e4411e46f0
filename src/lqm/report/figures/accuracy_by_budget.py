"""What a larger budget buys."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from lqm.evaluation.comparison import Comparison, Repeats
from lqm.evaluation.labels import distinct_labels
from lqm.evaluation.spread import Spread
from lqm.report.figures.series import deviation_over, evaluated, folder_of, series_of
from lqm.report.figures.style import (
    COLUMN,
    curve,
    legend_below,
    level,
    look,
    look_of_real,
    new_figure,
    plain,
    set_title,
)
from lqm.report.figures.subjects import Drawing, LeftOut, Origin, file_names

_WHAT = "accuracy against budget"


def draw_accuracy_by_budget(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """A figure for each origin and way of judging, a line a method and distance."""
    found = False
    for origin in origins:
        ways = [way for way in evaluated(origin.cases) if len({run.budget for run in way.repeats}) > 1]
        names = file_names([f"{way.protocol['name']}-{way.protocol['network']}" for way in ways])
        for name, way in zip(names, ways, strict=True):
            found = True
            more = f"-{name}" if len(ways) > 1 else ""
            yield Drawing(f"accuracy-by-budget{origin.suffix}{more}", _figure(origin, way))
    if not found:
        why = (
            "no two of these runs of the same data have different budgets and were evaluated in the same way"
        )
        yield LeftOut(_WHAT, f"{why}; condense with another --per-class or --budget, then run `lqm evaluate`")


def _figure(origin: Origin, way: Comparison) -> Figure:
    series = series_of(way.repeats, _title, lambda run: run.budget)
    figure = new_figure(COLUMN, 2.4)
    panel = figure.subplots()
    for number, (label, runs) in enumerate(series.items()):
        sizes = sorted(runs)
        curve(panel, look(number), sizes, [runs[size].accuracy for size in sizes], label, 100)
    for number, (name, by_size) in enumerate(_real(way.repeats).items()):
        label, sizes, own = f"{name} (real)", sorted(by_size), look_of_real(number)
        if name == "full":
            every = Spread(tuple(x for size in sizes for x in by_size[size].each))
            level(panel, own, 100 * every.mean, label)
        else:
            curve(panel, own, sizes, [by_size[size] for size in sizes], label, 100)
    budgets = sorted({run.budget for run in way.repeats})
    panel.set_xscale("log")
    panel.set_xticks(budgets, [f"{size:,}" for size in budgets])
    panel.xaxis.set_minor_locator(NullLocator())
    per_class = "per_class" in way.repeats[0].manifest
    panel.set_xlabel("images of each class" if per_class else "nodes")
    panel.set_ylabel("accuracy %")
    panel.grid()
    several = any(len(run.sets) > 1 for run in way.repeats)
    set_title(
        figure,
        f"{plain(origin.name)}: accuracy by {way.protocol['name']} with {plain(way.protocol['network'])}; "
        f"shaded: {deviation_over(several, networks=True)}",
    )
    legend_below(figure, panel)
    return figure


def _title(run: Repeats) -> str:
    return distinct_labels([run.manifest], [folder_of(run)])[0]


def _real(repeated: Sequence[Repeats]) -> dict[str, dict[int, Spread]]:
    """Accuracies of networks on real records beside the runs, by name and budget; each network once."""
    found: defaultdict[str, defaultdict[int, dict[tuple[int, int], tuple[float, ...]]]]
    found = defaultdict(lambda: defaultdict(dict))
    for run in repeated:
        for row in run.real:
            found[row.training_set][run.budget][row.evaluation_seed, row.records] = row.accuracies
    return {
        name: {
            size: Spread(tuple(x for accuracies in scores.values() for x in accuracies))
            for size, scores in by_size.items()
        }
        for name, by_size in found.items()
    }
