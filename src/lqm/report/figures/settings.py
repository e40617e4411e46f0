"""What evaluations noted of latent features, as bars: sets that are comparable stand together."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from lqm.evaluation.comparison import Repeats, When
from lqm.evaluation.labels import key_of
from lqm.evaluation.spread import Spread
from lqm.report.figures.series import error_bars, evaluated, series_of
from lqm.report.figures.style import COLUMN, grouped_bars, legend_below, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, LeftOut, Origin

NOT_EVALUATED = "none of these runs was evaluated; run `lqm evaluate` on them"

_INCHES_A_SETTING = 0.95
_WHEN: dict[When, str] = {"before": "seen by fresh networks", "after": "seen by networks trained on the set"}


class Setting(NamedTuple):
    """Sets of the same data, method and number of records, judged in one way."""

    origin: int
    source: str
    records: int
    method: str
    judging: str
    unit: str

    def __str__(self) -> str:
        lines = (plain(self.source, 14), self.method, f"{self.records:,} {self.unit}", self.judging)
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


def _draw(
    origins: Sequence[Origin], stem: str, part: Part, factor: int, what: str, title: str
) -> Iterator[Drawing | LeftOut]:
    if bars := bars_by_setting(origins):
        yield Drawing(stem, _figure(bars, part, factor, what.removesuffix(" statistic"), title))
    else:
        yield LeftOut(f"{what} by setting", NOT_EVALUATED)


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
            origins[number].cases[0].evaluator.read_protocol(**row.protocol).records,
        )

    found = [repeats for judged in ways for way in judged for repeats in way.repeats]
    return series_of(found, lambda repeats: repeats.distance or "none (real records)", setting)


def _figure(bars: Bars, part: Part, factor: int, unit: str, title: str) -> Figure:
    """A part of the noted matches, times a factor: one panel before the training, one after."""
    settings = sorted({setting for series in bars.values() for setting in series})
    figure = new_figure(max(COLUMN, 0.8 + _INCHES_A_SETTING * len(settings)), 4.2)
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (when, words) in zip(panels, _WHEN.items(), strict=True):
        spreads = [
            [part(series[own], when) if own in series else None for own in settings]
            for series in bars.values()
        ]
        grouped_bars(panel, spreads, [*bars], factor)
        panel.set_title(words)
        panel.set_ylabel(unit + " %" * (factor == 100))
    panels[-1].set_xticks(range(len(settings)), [str(setting) for setting in settings])
    set_title(figure, title + _error_bars(bars, part))
    legend_below(figure, panels[0])
    return figure


def _error_bars(bars: Bars, part: Part) -> str:
    every = [repeats for series in bars.values() for repeats in series.values()]
    several = any(len(repeats.sets) > 1 for repeats in every)
    single = [part(repeats, "before") for repeats in every if len(repeats.sets) == 1]
    networks = any(spread.deviation is not None for spread in single)
    return error_bars(several, networks)
