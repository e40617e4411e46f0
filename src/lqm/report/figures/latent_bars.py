"""Latent matches as bars: by setting, as evaluations measured them, and by class, under one fresh network."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean
from typing import NamedTuple

from matplotlib.figure import Figure
from rich.cells import cell_len

from lqm.evaluation.cases import alike
from lqm.evaluation.comparison import Repeats, When
from lqm.evaluation.labels import key_of
from lqm.evaluation.spread import Spread
from lqm.report.figures.series import error_bars, evaluated, series_of
from lqm.report.figures.style import COLUMN, PAGE, grouped_bars, legend_below, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, LeftOut, Origin
from lqm.utils.errors import DataError

_INCHES_A_SETTING = 0.95
_MOST_CLASSES, _LONGEST_NAME = 20, 18
_INCHES_A_BAR, _INCHES_A_LETTER, _WIDEST = 0.1, 0.06, 2 * PAGE
_WHEN: dict[When, str] = {"before": "under fresh networks", "after": "under networks trained on the set"}


class Setting(NamedTuple):
    """Sets of the same data, method and number of records, evaluated in one way."""

    origin: int
    source: str
    records: int
    method: str
    protocol: str
    unit: str

    def __str__(self) -> str:
        lines = (plain(self.source, 14), self.method, f"{self.records:,} {self.unit}", self.protocol)
        return "\n".join(filter(None, lines))


Bars = dict[str, dict[Setting, Repeats]]
Part = Callable[[Repeats, When], Spread]


def draw_cvm(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """Cramer-von Mises statistic by setting, bars by distance."""
    title = (
        "Latent features against those of the real class; to be compared within a setting only, where sets "
        "have as many records"
    )
    return _draw(origins, "cvm", Repeats.cramer_von_mises, 1, "Cramér-von Mises statistic", title)


def draw_extremes(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """Share of extreme values by setting, bars by distance."""
    title = "Latent values outside the range of the real class"
    return _draw(origins, "extremes", Repeats.extremes, 100, "extreme values", title)


def draw_extremes_by_class(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """For each origin the share of extreme values of every class, or of the worst twenty, and their mean."""
    for origin in origins:
        try:
            yield Drawing(f"extremes-by-class{origin.suffix}", _by_class(origin))
        except DataError as error:
            yield LeftOut(f"extreme values by class of {plain(origin.name)}", str(error))


def _draw(
    origins: Sequence[Origin], stem: str, part: Part, factor: int, what: str, title: str
) -> Iterator[Drawing | LeftOut]:
    if bars := bars_by_setting(origins):
        yield Drawing(stem, _by_setting(bars, part, factor, what.removesuffix(" statistic"), title))
    else:
        yield LeftOut(f"{what} by setting", "none of these runs was evaluated; run `lqm evaluate` on them")


def bars_by_setting(origins: Sequence[Origin]) -> Bars:
    """All that was evaluated: by distance, and then by setting."""
    ways = [evaluated(origin.cases) for origin in origins]
    numbers = {key_of(origin.cases[0].manifest["source"]): number for number, origin in enumerate(origins)}

    def setting(repeats: Repeats) -> Setting:
        number = numbers[key_of(repeats.manifest["source"])]
        row = repeats.scores[0][0]
        return Setting(
            number,
            origins[number].name,
            row.records,
            row.method,
            f"{row.protocol['name']}\n{plain(row.network, 16)}" if len(ways[number]) > 1 else "",
            origins[number].cases[0].evaluator.stored_protocol(row.protocol).records,
        )

    repeated = [repeats for of_origin in ways for way in of_origin for repeats in way.repeats]
    return series_of(repeated, lambda repeats: repeats.distance or "none (real records)", setting)


def _by_setting(bars: Bars, part: Part, factor: int, unit: str, title: str) -> Figure:
    """A part of the matches, times a factor: one panel before the training, one after."""
    settings = sorted({setting for series in bars.values() for setting in series})
    figure = new_figure(max(COLUMN, 0.8 + _INCHES_A_SETTING * len(settings)), 4.2)
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (when, heading) in zip(panels, _WHEN.items(), strict=True):
        spreads = [
            [part(series[own], when) if own in series else None for own in settings]
            for series in bars.values()
        ]
        grouped_bars(panel, spreads, [*bars], factor)
        panel.set_title(heading)
        panel.set_ylabel(unit + " %" * (factor == 100))
    panels[-1].set_xticks(range(len(settings)), [str(setting) for setting in settings])
    every = [repeats for series in bars.values() for repeats in series.values()]
    single = [part(repeats, "before") for repeats in every if len(repeats.sets) == 1]
    networks = any(spread.deviation is not None for spread in single)
    set_title(figure, title + error_bars(len(single) < len(every), networks))
    legend_below(figure, panels[0])
    return figure


def _by_class(origin: Origin) -> Figure:
    matches, classes = origin.latents.matches, [*origin.latents.real]
    groups = alike(origin.cases)

    def shares(runs: Sequence[int], label: int) -> list[float]:
        return [100 * matches[run][label].extremes for run in runs if label in matches[run]]

    def mean_of_all(label: int) -> float:
        return fmean(shares(range(len(matches)), label))

    shown = sorted(sorted(classes, key=mean_of_all, reverse=True)[:_MOST_CLASSES])
    columns = []
    for runs in groups.values():
        means = [100 * fmean(match.extremes for match in matches[run].values()) for run in runs]
        every = [*(shares(runs, label) for label in shown), means]
        columns.append([Spread(tuple(each)) if each else None for each in every])
    names = [plain(origin.cases[0].condensed.class_names[label], _LONGEST_NAME) for label in shown]
    turned = _INCHES_A_LETTER * longest if (longest := max(map(cell_len, names))) > 2 else 0.0
    bars = len(groups) * (len(shown) + 1)
    figure = new_figure(min(max(COLUMN, 0.7 + _INCHES_A_BAR * bars), _WIDEST), 2.4 + turned)
    panel = figure.subplots()
    grouped_bars(panel, columns, [*groups])
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
        f"{plain(origin.name)}: latent values outside the range of the real class under a fresh "
        f"{origin.latents.network}{some}{error_bars(several, networks=False)}",
    )
    legend_below(figure, panel)
    return figure
