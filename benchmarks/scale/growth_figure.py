"""The figure of `benchmarks.scale.growth`."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from benchmarks.scale.growth import AXES, Point, along, fit
from lqm.utils.files import write_atomically

# Two colours that stay apart for colour-blind readers (Okabe & Ito).
_ROWS = {"seconds": ("seconds of a step", "#0072B2"), "memory": ("GiB beyond the imports", "#D55E00")}


def draw(points: Sequence[Point], path: Path) -> None:
    """Write a PNG with a panel for each size and, below one another, time and memory."""
    figure = Figure(figsize=(3.2 * len(AXES), 6), layout="constrained", dpi=120)
    rows = figure.subplots(len(_ROWS), len(AXES), sharex="col", sharey="row")
    for row, (what, (label, colour)) in zip(rows, _ROWS.items(), strict=True):
        row[0].set_ylabel(label)
        for panel, axis in zip(row, AXES, strict=True):
            _draw_panel(panel, *along(points, axis, what), colour)
    for panel, (words, _) in zip(rows[-1], AXES.values(), strict=True):
        panel.set_xlabel(words)
    figure.suptitle("A step of DM + LQM, with the power of each size that fits best")
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, buffer.getvalue())


def _draw_panel(panel: Axes, values: list[int], found: list[float], colour: str) -> None:
    exponent, factor = fit(values, found)
    panel.loglog(values, found, "o", color=colour)
    panel.plot(values, [factor * value**exponent for value in values], color=colour, linewidth=1, alpha=0.6)
    panel.set_title(f"exponent {exponent:.2f}", fontsize=10)
    panel.set_xticks(values)
    panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter("{x:g}")
        axis.set_minor_locator(NullLocator())
    panel.spines[["top", "right"]].set_visible(False)
    panel.grid(alpha=0.3)
