"""The accuracy matrix of a stream of tasks, as a table, as an image and in a file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from rich.table import Table
from torch import Tensor

from lqm.report.figures.streams import matrix_figure
from lqm.report.figures.style import house_style, plain, save
from lqm.report.stream_runs import matrices_of
from lqm.report.streams import read_stream
from lqm.report.tables import Rows, markdown, plain_table
from lqm.utils.errors import ArtifactError
from lqm.utils.files import write_atomically

if TYPE_CHECKING:
    from lqm.api.continual import ContinualResult

# So many tasks fit into a page, into 80 columns, and into these with names of columns in one line.
_WIDEST, _WIDEST_TERMINAL, _ONE_LINE = 12, 8, 6
_RESULT, _IMAGE = "result.json", "accuracy-matrix.png"


def continual_table(result: "ContinualResult") -> Table:
    """For the terminal: mean accuracies in percent, a row after each task; AA and BWT below."""
    header, rows = _layout(result, _WIDEST_TERMINAL)
    if len(header) > _ONE_LINE + 2:
        header = [name.replace(" ", "\n") for name in header]
    return plain_table(header, rows, "\n".join(_words(result)))


def continual_markdown(result: "ContinualResult") -> str:
    """The same as Markdown."""
    header, rows = _layout(result, _WIDEST)
    return "\n\n".join([markdown(header, rows), *_words(result)]) + "\n"


def heat_map(matrix: Tensor, path: Path, title: str) -> None:
    """Write an accuracy matrix, [K, K], as PNG, and as SVG beside it."""
    with house_style():
        save(matrix_figure(matrix, plain(title, 200)), path.with_suffix(""))


def write_result(result: "ContinualResult", folder: Path) -> None:
    """Write result and image, unless they are there, of as many repeats or more."""
    matrices, image = stored_matrices(folder), folder / _IMAGE
    fewer = len(matrices) < len(result.repeats)
    if fewer or not image.exists():
        heat_map((result.matrices if fewer else matrices).mean(dim=0), image, result.title)
    if fewer:
        write_atomically(folder / _RESULT, json.dumps(result.record(), indent=2).encode() + b"\n")


def stored_matrices(folder: Path) -> Tensor:
    """The accuracy matrices of the result in a folder, [R, K, K]; R is 0 if it is missing or damaged."""
    try:
        return matrices_of(folder, read_stream(folder))
    except ArtifactError:
        return torch.zeros(0, 0, 0)


def _layout(result: "ContinualResult", widest: int) -> tuple[Sequence[str], Rows]:
    """The matrix unless it has too many columns, and the average after each task."""
    matrix = result.matrix
    columns = range(len(matrix)) if len(matrix) <= widest else range(0)
    header = ("after task", *(f"task {i}" for i in columns), "average")
    rows = [
        (
            str(k),
            *(f"{100 * matrix[k, i]:.1f}" if i <= k else "" for i in columns),
            average.percent(),
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
