"""The differences of a study with their intervals, as a forest plot."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lqm.evaluation.paired import interval_in_words
from lqm.evaluation.spread import in_points
from lqm.report.figures.style import (
    PAGE,
    house_style,
    legend_below,
    look,
    new_figure,
    plain,
    save,
    set_title,
)
from lqm.studies.pairs import Comparison, group_in_words
from lqm.utils.errors import DataError

_INCHES_A_ROW = 0.19
# Between groups, in rows.
_APART = 0.6
_BESIDE = 0.5


def write_forest(
    found: Sequence[Comparison], stem: Path, kinds: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Draw comparisons, and write the figure beside the others of `lqm figures`.

    Args:
        found: the comparisons of a study, or some of them.
        stem: the path without its suffix.
        kinds: of files.

    Raises:
        DataError: when there is no comparison.
    """
    if not found:
        raise DataError("a forest plot takes one comparison or more; there is none")
    with house_style():
        return save(forest_figure(found), stem, kinds)


def forest_figure(found: Sequence[Comparison]) -> Figure:
    """A row for each comparison: the mean difference, and its 95 % intervals by t and by the bootstrap.

    Rows that share all but the side stand together, beside what they share.
    """
    groups = [(words, [*own]) for words, own in groupby(found, key=lambda each: group_in_words(each.group))]
    rows = len(found) + _APART * len(groups)
    figure = new_figure(PAGE, _INCHES_A_ROW * rows + _BESIDE)
    panel = figure.subplots()
    sides = [*dict.fromkeys(str(each.side) for each in found)]
    heads: list[float] = []
    place = 0.0
    for _, own in groups:
        heads.append(place)
        for each in own:
            _draw(panel, each, place, sides.index(str(each.side)))
            place += 1
        place += _APART
    panel.axvline(0, color="black", linewidth=0.8, linestyle=":")
    panel.set_ylim(rows - _APART - 0.3, -0.7)
    panel.set_yticks(heads, [plain(words, 45) for words, _ in groups])
    panel.tick_params(axis="y", length=0)
    panel.grid(axis="x")
    against = " or ".join(dict.fromkeys(plain(str(each.against)) for each in found))
    panel.set_xlabel(f"points of accuracy over {against}")
    set_title(figure, "mean difference of pairs; thick: 95 % interval by t, thin: by bootstrap")
    legend_below(figure, panel)
    return figure


def _draw(panel: Axes, each: Comparison, place: float, number: int) -> None:
    own, paired = look(number), each.paired
    for interval, width, below in ((paired.bootstrap, 0.8, 0.28), (paired.interval, 2.2, 0.0)):
        if interval:
            panel.plot(
                [100 * end for end in interval], [place + below] * 2, color=own.colour, linewidth=width
            )
    known = panel.get_legend_handles_labels()[1]
    label = plain(str(each.side), 200)
    panel.plot(
        [100 * paired.mean],
        [place],
        color=own.colour,
        marker=own.marker,
        markersize=5,
        linestyle="none",
        label="_" if label in known else label,
    )
    words = f"{in_points(paired.mean)} {interval_in_words(paired.interval) if paired.interval else ''}"
    panel.text(1.01, place, words.strip(), transform=panel.get_yaxis_transform(), va="center", fontsize=7)
