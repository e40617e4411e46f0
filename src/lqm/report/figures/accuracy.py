"""Accuracy along the condensation, and against the budget."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from lqm.condensed.described import records_of
from lqm.evaluation.cases import Case
from lqm.evaluation.comparison import Comparison, Repeats
from lqm.evaluation.history import Evaluated, evaluation_curve
from lqm.evaluation.labels import distinct_labels, key_of
from lqm.evaluation.spread import Spread
from lqm.evaluation.standing import standings
from lqm.report.figures.series import deviation_over, evaluated, folder_of, series_of
from lqm.report.figures.style import COLUMN, PAGE, LinePlot, look, look_of_real, plain
from lqm.report.figures.subjects import Drawing, LeftOut, Origin, suffixes

_NARROW_LINES = 6

# A run, and its evaluations along the way.
Along = tuple[Case, list[Evaluated]]


def draw_accuracy_by_step(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """A figure for each origin and protocol, a line a run."""
    drawn = False
    for origin in origins:
        by_protocol: defaultdict[str, list[Along]] = defaultdict(list)
        for case in origin.cases:
            if along := evaluation_curve(case.folder, case.manifest["steps"]):
                by_protocol[key_of(case.manifest["evaluation"])].append((case, along))
        names = [runs[0][0].manifest["evaluation"]["name"] for runs in by_protocol.values()]
        for suffix, runs in zip(suffixes(names), by_protocol.values(), strict=True):
            drawn = True
            yield Drawing(f"accuracy-by-step{origin.suffix}{suffix}", _by_step(origin, runs))
    if not drawn:
        yield LeftOut("accuracy against step", "none of these runs was condensed with --evaluate-every")


def draw_accuracy_by_budget(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """A figure for each origin and protocol, a line a method and distance."""
    drawn = False
    for origin in origins:
        ways = [way for way in evaluated(origin.cases) if len({run.budget for run in way.repeats}) > 1]
        names = [f"{way.protocol['name']}-{way.protocol['network']}" for way in ways]
        for suffix, way in zip(suffixes(names), ways, strict=True):
            drawn = True
            yield Drawing(f"accuracy-by-budget{origin.suffix}{suffix}", _by_budget(origin, way))
    if not drawn:
        yield LeftOut(
            "accuracy against budget",
            "no two of these runs of the same data have different budgets and were evaluated in the same "
            "way; condense with another --per-class or --budget, then run `lqm evaluate`",
        )


def _by_step(origin: Origin, runs: Sequence[Along]) -> Figure:
    plot = LinePlot("step", COLUMN if len(runs) <= _NARROW_LINES else PAGE)
    for number, (case, along) in enumerate(runs):
        plot.curve(look(number), [each.step for each in along], [each.accuracy for each in along], case.label)
    first = runs[0][0]
    protocol = first.evaluator.stored_protocol(first.manifest["evaluation"])
    sizes = {case.records for case, _ in runs}
    real = [
        bar
        for standing in standings(origin.cases)
        if standing.protocol == protocol
        for bar in standing.bars
        if bar.training_set == "full" or (bar.training_set == "random" and bar.records in sizes)
    ]
    for number, bar in enumerate(real):
        plot.level(look_of_real(number), bar.accuracy, f"{bar.name} (real)")
    return plot.finish(
        f"{plain(origin.name)}: accuracy along the condensation, by {protocol.name}; "
        "shaded: sample deviation over networks"
    )


def _by_budget(origin: Origin, way: Comparison) -> Figure:
    records = records_of(way.repeats[0].manifest)
    plot = LinePlot(records if records == "nodes" else f"{records} of each class")
    for number, (label, runs) in enumerate(series_of(way.repeats, _label, lambda run: run.budget).items()):
        sizes = sorted(runs)
        plot.curve(look(number), sizes, [runs[size].accuracy for size in sizes], label)
    for number, (name, by_size) in enumerate(_real(way.repeats).items()):
        label, sizes, own = f"{name} (real)", sorted(by_size), look_of_real(number)
        if name == "full":
            plot.level(own, Spread(tuple(x for size in sizes for x in by_size[size].each)).mean, label)
        else:
            plot.curve(own, sizes, [by_size[size] for size in sizes], label)
    budgets = sorted({run.budget for run in way.repeats})
    plot.panel.set_xscale("log")
    plot.panel.set_xticks(budgets, [f"{size:,}" for size in budgets])
    plot.panel.xaxis.set_minor_locator(NullLocator())
    several = any(len(run.sets) > 1 for run in way.repeats)
    return plot.finish(
        f"{plain(origin.name)}: accuracy by {way.protocol['name']} with {plain(way.protocol['network'])}; "
        f"shaded: {deviation_over(several, networks=True)}"
    )


def _label(run: Repeats) -> str:
    return distinct_labels([run.manifest], [folder_of(run)])[0]


def _real(repeated: Sequence[Repeats]) -> dict[str, dict[int, Spread]]:
    """Accuracies of networks on real records beside the runs, by name and budget; each network once."""
    rows: defaultdict[str, defaultdict[int, dict[tuple[int, int], tuple[float, ...]]]]
    rows = defaultdict(lambda: defaultdict(dict))
    for run in repeated:
        for row in run.real:
            rows[row.training_set][run.budget][row.evaluation_seed, row.records] = row.accuracies
    return {
        name: {size: Spread(sum(scores.values(), ())) for size, scores in by_size.items()}
        for name, by_size in rows.items()
    }
