"""The accuracy matrix of a stream of tasks, as a table and as an image."""

from pathlib import Path
from typing import Protocol

from rich.table import Table
from torch import Tensor

from lqm.evaluation.accuracy_matrix import AccuracyMatrices
from lqm.report.tables import plain_table
from lqm.utils.errors import ConfigError
from lqm.utils.log import warn

# So many tasks fit into 80 columns, and so many with names of columns in one line.
_WIDEST, _ONE_LINE = 8, 6


class Result(Protocol):
    """A result of `lqm.continual`."""

    @property
    def accuracies(self) -> AccuracyMatrices: ...  # noqa: D102

    @property
    def title(self) -> str: ...  # noqa: D102


def continual_table(result: Result) -> Table:
    """For the terminal: mean accuracies in percent, a row after each task; AA and BWT below."""
    header, rows = result.accuracies.layout(_WIDEST)
    if len(header) > _ONE_LINE + 2:
        header = [name.replace(" ", "\n") for name in header]
    return plain_table(header, rows, "\n".join(result.accuracies.notes(result.title)))


def heat_map(matrix: Tensor, path: Path, title: str) -> None:
    """Write an accuracy matrix, [K, K], as PNG, and as SVG beside it; without matplotlib, warn instead."""
    try:
        from lqm.report.figures.streams import matrix_figure
        from lqm.report.figures.style import house_style, plain, save
    except ConfigError as error:
        return warn(f"no heat map: {error}")
    with house_style():
        save(matrix_figure(matrix, plain(title, 200)), path.with_suffix(""))
