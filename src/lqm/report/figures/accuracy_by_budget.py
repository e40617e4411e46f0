"""What a larger budget buys."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, pstdev

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from lqm.report.cases import distinct_labels
from lqm.report.figures.repeated import Entry, Judging, Repeated, deviation_over, judgings, series_of
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
        ways = [way for way in judgings(origin.cases) if len({run.size for run in way.repeated}) > 1]
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


def _figure(origin: Origin, way: Judging) -> Figure:
    series = series_of(way.repeated, _title, lambda run: run.size)
    figure = new_figure(COLUMN, 2.4)
    panel = figure.subplots()
    for number, (label, runs) in enumerate(series.items()):
        sizes = sorted(runs)
        spreads = [
            runs[size].spread(lambda entry: entry["accuracy"], lambda entry: entry["accuracies"])
            for size in sizes
        ]
        curve(
            panel,
            look(number),
            sizes,
            [100 * mean for mean, _ in spreads],
            [100 * deviation for _, deviation in spreads],
            label,
        )
    for number, (name, by_size) in enumerate(_real(way.repeated).items()):
        label, sizes = f"{name} (real)", sorted(by_size)
        if name == "full":
            level(panel, look_of_real(number), 100 * fmean(x for size in sizes for x in by_size[size]), label)
            continue
        networks = [[100 * accuracy for accuracy in by_size[size]] for size in sizes]
        curve(panel, look_of_real(number), sizes, [*map(fmean, networks)], [*map(pstdev, networks)], label)
    budgets = sorted({run.size for run in way.repeated})
    panel.set_xscale("log")
    panel.set_xticks(budgets, [f"{size:,}" for size in budgets])
    panel.xaxis.set_minor_locator(NullLocator())
    per_class = "per_class" in way.repeated[0].manifest
    panel.set_xlabel("images of each class" if per_class else "nodes")
    panel.set_ylabel("accuracy %")
    panel.grid()
    several = any(len(run.cases) > 1 for run in way.repeated)
    set_title(
        figure,
        f"{plain(origin.name)}: accuracy by {way.protocol['name']} with {plain(way.protocol['network'])}; "
        f"shaded: {deviation_over(several, networks=True)}",
    )
    legend_below(figure, panel)
    return figure


def _title(run: Repeated) -> str:
    return distinct_labels([run.manifest], [run.cases[0].folder])[0]


def _real(repeated: Sequence[Repeated]) -> dict[str, dict[int, list[float]]]:
    """Accuracies of networks on real records beside the runs, by name and budget; each network once."""
    found: defaultdict[str, defaultdict[int, dict[tuple[int, int], Entry]]]
    found = defaultdict(lambda: defaultdict(dict))
    for run in repeated:
        for entry in (entry for entries in run.entries for entry in entries):
            for name, score in entry.get("baselines", {}).items():
                found[name][run.size][entry["seed"], score["records"]] = score
    return {
        name: {
            size: [x for score in scores.values() for x in score["accuracies"]]
            for size, scores in by_size.items()
        }
        for name, by_size in found.items()
    }
