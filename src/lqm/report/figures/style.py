"""What all figures share: colours, sizes, legends, text that is never parsed, and files without a date."""

import textwrap
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from rich.cells import cell_len

from lqm.evaluation.spread import Spread
from lqm.utils.files import write_atomically

# Widths in inches: of a column of a paper, and of its whole text.
COLUMN, PAGE = 3.4, 7.0
# Colours that stay apart for colour-blind readers (Okabe & Ito); yellow, the palest, comes late.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1)))
_MARKERS = "osD^vPX*"
_HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "oo", "++", "--")
_GREY = "#777777"
_LETTERS_PER_INCH = 13.5
_HANDLE_LETTERS = 9
_FEWEST_PLACES = 3
_INCHES_A_LINE = 0.165
_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "figure.titlesize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "legend.handlelength": 2.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "savefig.dpi": 200,
    # Text is text in SVG, and its identifiers are the same each time.
    "svg.fonttype": "none",
    "svg.hashsalt": "lqm",
    # A class may be called $x_1$.
    "text.parse_math": False,
}
_NO_DATE: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None}}


class Look(NamedTuple):
    """How one of several things is drawn, in colour and in grey."""

    colour: str
    line: Any
    marker: str
    hatch: str


def look(number: int) -> Look:
    """The look of thing `number`; from the ninth on colours come again, with the next line, marker and hatch.

    Example:
        >>> look(0) == look(64), look(0).colour == look(8).colour, look(0).line == look(8).line
        (True, True, False)
    """
    colour = number % len(_COLOURS)
    form = (number + number // len(_COLOURS)) % len(_LINES)
    return Look(_COLOURS[colour], _LINES[form], _MARKERS[form], _HATCHES[form])


def look_of_real(number: int) -> Look:
    """The look of what the runs are compared with: dashed and grey, with the line and marker of `number`."""
    return look(1 + number % (len(_LINES) - 1))._replace(colour=_GREY)


@contextmanager
def house_style() -> Iterator[None]:
    """Draw and save in here; matplotlib's settings, the user's own too, are as before afterwards."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        # A name in a script that the font has not is boxes in PNG, and still text in SVG.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; what is in it makes room for each other."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, stem: Path, kinds: Sequence[str] = tuple(_NO_DATE)) -> list[Path]:
    """Write a figure as PNG and SVG, or as one of them; the same figure gives the same bytes."""
    paths = []
    for kind in kinds:
        buffer = BytesIO()
        figure.savefig(buffer, format=kind, metadata=_NO_DATE[kind])
        paths.append(stem.with_name(f"{stem.name}.{kind}"))
        write_atomically(paths[-1], buffer.getvalue())
    return paths


def plain(name: str, longest: int = 60) -> str:
    """A name from outside as one line that can be drawn and stands in XML; wide letters count twice.

    Example:
        >>> plain("a" + chr(9) + "b" + chr(0)), plain("a very long name", longest=7)
        ('a b�', 'a very…')
    """
    spaced = " ".join(name.split())
    line = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in spaced)
    if cell_len(line) <= longest:
        return line
    while cell_len(line) >= longest:
        line = line[:-1]
    return line.rstrip() + "…"


def wrapped(text: str, inches: float) -> str:
    """Text in lines that fit a width."""
    width = max(8, int(_LETTERS_PER_INCH * inches))
    return "\n".join(textwrap.fill(line, width, break_on_hyphens=False) for line in text.splitlines())


def set_title(figure: Figure, text: str) -> Text:
    """A title above all panels, in as many lines as it needs; the figure grows by them."""
    lines = wrapped(text, figure.get_figwidth())
    _grow(figure, lines.count("\n") + 1)
    return figure.suptitle(lines)


def legend_below(figure: Figure, panel: Axes) -> None:
    """What the looks in a panel mean, below all panels, where it hides nothing; the figure grows by it."""
    handles, labels = panel.get_legend_handles_labels()
    inches = figure.get_figwidth()
    lines = [wrapped(plain(label, 200), inches - 0.6) for label in labels]
    lengths = [_HANDLE_LETTERS + max(map(len, label.splitlines())) for label in lines]
    room = 1.1 * _LETTERS_PER_INCH * inches
    columns = len(lines) if sum(lengths) <= room else max(1, int(room / max(lengths)))
    figure.legend(handles, lines, loc="outside lower center", ncols=columns)
    _grow(figure, sum(label.count("\n") + 1 for label in lines[:: columns or 1]))


def grouped_bars(
    panel: Axes, spreads: Sequence[Sequence[Spread | None]], labels: Sequence[str], factor: float = 1.0
) -> None:
    """Bars side by side at 0, 1, ..., times a factor: a series a label; no bar where there is nothing."""
    width = 0.8 / len(labels)
    for number, (found, label) in enumerate(zip(spreads, labels, strict=True)):
        own = look(number)
        series = factor * np.array([spread.mean if spread else np.nan for spread in found])
        error = factor * np.array([(spread and spread.deviation) or 0.0 for spread in found])
        places = np.arange(len(series)) + (number - (len(labels) - 1) / 2) * width
        filled: dict[str, Any] = {
            "color": own.colour,
            "hatch": own.hatch,
            "edgecolor": "white",
            "linewidth": 0.5,
        }
        panel.bar(places, series, width, label=label, **filled)
        known = error > 0
        panel.errorbar(
            places[known], series[known], error[known], fmt="none", ecolor="black", elinewidth=0.8, capsize=2
        )
    panel.grid(axis="y")
    panel.tick_params(axis="x", length=0)
    beside = max(0.6, (_FEWEST_PLACES - len(spreads[0])) / 2 + 0.5)
    panel.set_ylim(bottom=0)
    panel.set_xlim(-beside, len(spreads[0]) - 1 + beside)


class LinePlot:
    """A figure of one panel: accuracies in percent as lines, named in a legend below."""

    def __init__(self, x_label: str, width: float = COLUMN, y_label: str = "accuracy %") -> None:
        self.figure = new_figure(width, 2.4)
        self.panel = self.figure.subplots()
        self.panel.set_xlabel(x_label)
        self.panel.set_ylabel(y_label)
        self.panel.grid()

    def curve(self, own: Look, x: Sequence[float], spreads: Sequence[Spread], label: str) -> None:
        """A line with markers through means, and the deviations around it."""
        middle = 100 * np.array([spread.mean for spread in spreads])
        around = 100 * np.array([spread.deviation or 0.0 for spread in spreads])
        drawn = {"color": own.colour, "linestyle": own.line, "marker": own.marker}
        self.panel.plot(x, middle, markersize=4, label=label, **drawn)
        self.panel.fill_between(
            x, middle - around, middle + around, color=own.colour, alpha=0.15, linewidth=0
        )

    def level(self, own: Look, height: float, label: str) -> None:
        """A horizontal line to compare with."""
        self.panel.axhline(100 * height, color=own.colour, linestyle=own.line, linewidth=1.2, label=label)

    def finish(self, title: str) -> Figure:
        """The figure, with its title and legend."""
        set_title(self.figure, title)
        legend_below(self.figure, self.panel)
        return self.figure


def _grow(figure: Figure, lines: int) -> None:
    figure.set_figheight(figure.get_figheight() + _INCHES_A_LINE * lines)
