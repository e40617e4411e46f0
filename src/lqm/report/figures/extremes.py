"""Extreme values by class, as one fresh network sees them."""

from collections.abc import Iterator, Sequence
from statistics import fmean

from matplotlib.figure import Figure
from rich.cells import cell_len

from lqm.evaluation.spread import Spread
from lqm.report.figures.series import alike, error_bars
from lqm.report.figures.style import COLUMN, PAGE, grouped_bars, legend_below, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, LeftOut, Origin
from lqm.utils.errors import DataError

_MOST_CLASSES = 20
_LONGEST_NAME = 18
_INCHES_A_BAR, _INCHES_A_LETTER, _WIDEST = 0.1, 0.06, 2 * PAGE


def draw_extremes_by_class(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """For each origin the share of extreme values of every class, or of the worst twenty, and their mean."""
    for origin in origins:
        try:
            yield Drawing(f"extremes-by-class{origin.suffix}", _figure(origin))
        except DataError as error:
            yield LeftOut(f"extreme values by class of {plain(origin.name)}", str(error))


def _figure(origin: Origin) -> Figure:
    matches, classes = origin.latents.matches, [*origin.latents.real]
    groups = alike(origin.cases)

    def shares(runs: Sequence[int], label: int) -> list[float]:
        return [100 * matches[run][label].extremes for run in runs if label in matches[run]]

    def mean_of_all(label: int) -> float:
        return fmean(shares(range(len(matches)), label))

    shown = sorted(sorted(classes, key=mean_of_all, reverse=True)[:_MOST_CLASSES])
    columns = [
        [
            *(shares(runs, label) for label in shown),
            [100 * fmean(match.extremes for match in matches[run].values()) for run in runs],
        ]
        for runs in groups.values()
    ]
    names = [plain(origin.cases[0].condensed.class_names[label], _LONGEST_NAME) for label in shown]
    turned = _INCHES_A_LETTER * longest if (longest := max(map(cell_len, names))) > 2 else 0.0
    bars = len(groups) * (len(shown) + 1)
    figure = new_figure(min(max(COLUMN, 0.7 + _INCHES_A_BAR * bars), _WIDEST), 2.4 + turned)
    panel = figure.subplots()
    grouped_bars(
        panel,
        [[Spread(tuple(found)) if found else None for found in column] for column in columns],
        [*groups],
    )
    panel.axvline(len(shown) - 0.5, color="#999999", linewidth=0.8)
    panel.set_xticks(range(len(shown) + 1), [*names, "mean"])
    if turned:
        panel.tick_params(axis="x", rotation=90)
    panel.set_xlabel("class")
    panel.set_ylabel("extreme values %")
    several = len(groups) < len(matches)
    some = f", the {len(shown)} worst of {len(classes)} classes" if len(shown) < len(classes) else ""
    set_title(
        figure,
        f"{plain(origin.name)}: latent values outside the range of the real class, as a fresh "
        f"{origin.latents.network} sees them{some}{error_bars(several, networks=False)}",
    )
    legend_below(figure, panel)
    return figure
