"""What evaluations noted of latent features, as bars: sets that are comparable stand together."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from matplotlib.figure import Figure

from lqm.report.figures.repeated import Entry, Repeated, error_bars, judgings, series_of
from lqm.report.figures.style import COLUMN, grouped_bars, legend_below, new_figure, plain, set_title
from lqm.report.figures.subjects import Drawing, LeftOut, Origin
from lqm.report.records import key_of

NOT_EVALUATED = "none of these runs was evaluated; run `lqm evaluate` on them"

_INCHES_A_SETTING = 0.95
_WHEN = {"before": "seen by fresh networks", "after": "seen by networks trained on the set"}


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


Bars = dict[str, dict[Setting, Repeated]]


def draw_cvm(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """Cramer-von Mises statistic by setting, bars by distance."""
    bars = bars_by_setting(origins)
    if not bars:
        yield LeftOut("Cramér-von Mises statistic by setting", NOT_EVALUATED)
        return
    title = (
        "Latent features against those of the real class; to be compared within a setting only, where sets "
        "have as many records"
    )
    yield Drawing("cvm", _figure(bars, "cramer_von_mises", 1.0, "Cramér-von Mises", title))


def draw_extremes(origins: Sequence[Origin]) -> Iterator[Drawing | LeftOut]:
    """Share of extreme values by setting, bars by distance."""
    bars = bars_by_setting(origins)
    if not bars:
        yield LeftOut("extreme values by setting", NOT_EVALUATED)
        return
    title = "Latent values outside the range of the real class"
    yield Drawing("extremes", _figure(bars, "extremes", 100.0, "extreme values %", title))


def bars_by_setting(origins: Sequence[Origin]) -> Bars:
    """All that was evaluated: by distance, and then by setting."""
    ways = [judgings(origin.cases) for origin in origins]
    numbers = {key_of(origin.cases[0].manifest["source"]): number for number, origin in enumerate(origins)}

    def setting(repeated: Repeated) -> Setting:
        number = numbers[key_of(repeated.manifest["source"])]
        entry, protocol = repeated.entries[0][0], repeated.entries[0][0]["protocol"]
        return Setting(
            number,
            origins[number].name,
            entry["records"],
            repeated.manifest["method"],
            f"{protocol['name']}\n{plain(protocol['network'], 16)}" if len(ways[number]) > 1 else "",
            repeated.cases[0].kind.read_protocol(**protocol).records,
        )

    found = [repeated for judged in ways for way in judged for repeated in way.repeated]
    return series_of(found, lambda repeated: repeated.distance, setting)


def _figure(bars: Bars, part: str, factor: float, unit: str, title: str) -> Figure:
    """A part of the noted matches, times a factor: one panel before the training, one after."""
    settings = sorted({setting for series in bars.values() for setting in series})
    figure = new_figure(max(COLUMN, 0.8 + _INCHES_A_SETTING * len(settings)), 4.2)
    panels = figure.subplots(2, 1, sharex=True)
    for panel, (when, words) in zip(panels, _WHEN.items(), strict=True):
        spreads = [_spreads(series, settings, when, part, factor) for series in bars.values()]
        grouped_bars(
            panel,
            [[mean for mean, _ in series] for series in spreads],
            [[deviation for _, deviation in series] for series in spreads],
            [*bars],
        )
        panel.set_title(words)
        panel.set_ylabel(unit)
    panels[-1].set_xticks(range(len(settings)), [str(setting) for setting in settings])
    set_title(figure, title + _error_bars(bars, part))
    legend_below(figure, panels[0])
    return figure


def _spreads(
    series: dict[Setting, Repeated], settings: Sequence[Setting], when: str, part: str, factor: float
) -> list[tuple[float, float]]:
    """Mean and deviation in each setting; NaN where the series has nothing."""

    def number(entry: Entry) -> float:
        return factor * float(entry[when][part])

    def each(entry: Entry) -> list[float]:
        return [factor * found for found in _by_network(entry, when, part)]

    return [series[own].spread(number, each) if own in series else (float("nan"), 0.0) for own in settings]


def _by_network(entry: Entry, when: str, part: str) -> list[float]:
    """What each network found; nothing of extremes, nor of statistics that are not noted by network."""
    found: list[float] = entry[when].get("by_network", []) if part == "cramer_von_mises" else []
    return found


def _error_bars(bars: Bars, part: str) -> str:
    every = [repeated for series in bars.values() for repeated in series.values()]
    several = any(len(repeated.cases) > 1 for repeated in every)
    known = any(
        len(repeated.cases) == 1 and len(_by_network(repeated.entries[0][0], "before", part)) > 1
        for repeated in every
    )
    return error_bars(several, known)
