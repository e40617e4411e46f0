"""The accuracy matrix of a stream of tasks, as a table and as a picture."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from rich.table import Table
from torch import Tensor

from lqm.files import write_atomically
from lqm.report.tables import Rows, markdown, plain_table

if TYPE_CHECKING:
    from lqm.streaming import ContinualResult

# Runs from dark blue to yellow, evenly in lightness: readable in grey and by colour-blind readers.
_COLOURS = "cividis"
_WIDEST = 12


def continual_table(result: "ContinualResult") -> Table:
    """For the terminal: mean accuracies in percent, a row after each task; AA and BWT below."""
    header, rows = _layout(result)
    return plain_table(header, rows, "\n".join(_words(result)))


def continual_markdown(result: "ContinualResult") -> str:
    """The same as Markdown."""
    header, rows = _layout(result)
    return "\n\n".join([markdown(header, rows), *_words(result)]) + "\n"


def heat_map(matrix: Tensor, path: Path, title: str) -> None:
    """Write an accuracy matrix as PNG, with its numbers in percent; nothing above the diagonal.

    Shapes: matrix [K, K]: row k after task k, column i of task i.
    """
    tasks = len(matrix)
    side = 1.8 + 0.5 * tasks
    figure = Figure(figsize=(side + 1.2, side), layout="constrained", dpi=120)
    panel = figure.subplots()
    picture = panel.imshow(100 * matrix.numpy(), cmap=_COLOURS, vmin=0, vmax=100)
    for k in range(tasks):
        for i in range(k + 1):
            shade = "black" if matrix[k, i] > 0.5 else "white"
            panel.text(i, k, f"{100 * matrix[k, i]:.0f}", ha="center", va="center", color=shade, fontsize=9)
    panel.set_xticks(range(tasks))
    panel.set_yticks(range(tasks))
    panel.set_xlabel("accuracy on task")
    panel.set_ylabel("after task")
    panel.spines[["top", "right"]].set_visible(False)
    figure.colorbar(picture, ax=panel, label="accuracy %", shrink=0.8)
    figure.suptitle(title, fontsize=11)
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    write_atomically(path, buffer.getvalue())


def _layout(result: "ContinualResult") -> tuple[Sequence[str], Rows]:
    """The matrix if it is narrow enough for a page, and the average after each task."""
    matrix = result.matrix
    columns = range(len(matrix)) if len(matrix) <= _WIDEST else range(0)
    header = ("after task", *(f"task {i}" for i in columns), "average")
    rows = [
        (
            str(k),
            *(f"{100 * matrix[k, i]:.1f}" if i <= k else "" for i in columns),
            f"{100 * average.mean:.1f}",
        )
        for k, average in enumerate(result.average_accuracy_after)
    ]
    return header, rows


def _words(result: "ContinualResult") -> list[str]:
    transfer = result.backward_transfer
    repeats = len(result.matrices)
    over = f"mean and sample deviation of {repeats} repeats" if repeats > 1 else "1 repeat"
    return [
        f"AA {result.average_accuracy.percent()}",
        f"BWT {transfer.percent() if transfer else '-'}",
        f"{result.title}: accuracy in percent, {over}; AA: average accuracy after the last task; "
        "BWT: backward transfer, below 0 where tasks were forgotten.",
    ]
