"""How good a set was along its condensation."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from matplotlib.figure import Figure

from lqm.evaluation.cases import Case
from lqm.evaluation.history import Evaluated, evaluation_curve
from lqm.evaluation.labels import key_of
from lqm.evaluation.standing import standings
from lqm.report.figures.style import (
    COLUMN,
    PAGE,
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

_NARROW_LINES = 6

# A run, and what was found of it along the way.
Along = tuple[Case, list[Evaluated]]


def draw_accuracy_by_step(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """A figure for each origin and protocol, a line a run."""
    drawn = 0
    for origin in origins:
        by_protocol: defaultdict[str, list[Along]] = defaultdict(list)
        for case in origin.cases:
            if along := evaluation_curve(case.folder, case.manifest["steps"]):
                by_protocol[key_of(case.manifest["evaluation"])].append((case, along))
        protocols = [runs[0][0].manifest["evaluation"]["name"] for runs in by_protocol.values()]
        names = [f"-{name}" for name in file_names(protocols)] if len(protocols) > 1 else [""]
        for name, runs in zip(names, by_protocol.values(), strict=False):
            drawn += 1
            yield Drawing(f"accuracy-by-step{origin.suffix}{name}", _figure(origin, runs))
    if not drawn:
        yield LeftOut("accuracy against step", "none of these runs was condensed with --evaluate-every")


def _figure(origin: Origin, runs: Sequence[Along]) -> Figure:
    figure = new_figure(COLUMN if len(runs) <= _NARROW_LINES else PAGE, 2.4)
    panel = figure.subplots()
    for number, (case, along) in enumerate(runs):
        curve(
            panel,
            look(number),
            [found.step for found in along],
            [found.accuracy for found in along],
            case.label,
            100,
        )
    protocol = runs[0][0].manifest["evaluation"]
    sizes = {case.records for case, _ in runs}
    real = [
        bar
        for standing in standings(origin.cases)
        if asdict(standing.protocol) == protocol
        for bar in standing.bars
        if bar.training_set == "full" or (bar.training_set == "random" and bar.records in sizes)
    ]
    for number, bar in enumerate(real):
        level(panel, look_of_real(number), 100 * bar.accuracy, f"{bar.name} (real)")
    panel.set_xlabel("step")
    panel.set_ylabel("accuracy %")
    panel.grid()
    set_title(
        figure,
        f"{plain(origin.name)}: accuracy along the condensation, by {protocol['name']}; "
        "shaded: sample deviation over networks",
    )
    legend_below(figure, panel)
    return figure
