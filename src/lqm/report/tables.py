"""Scores as a table, on the terminal and in Markdown."""

from collections.abc import Mapping

from rich.table import Table

from lqm.images.evaluation import EvaluationProtocol, Score

_COLUMNS = ("training set", "pictures", "test accuracy %", "CvM", "extremes %")


def score_table(rows: Mapping[str, Score], protocol: EvaluationProtocol) -> Table:
    """A table for the terminal; each row is a training set and its score."""
    table = Table(caption=str(protocol), caption_justify="left")
    for index, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in _cells(rows):
        table.add_row(*row)
    return table


def score_markdown(rows: Mapping[str, Score], protocol: EvaluationProtocol) -> str:
    """The same as Markdown."""
    ruler = ["---", *["---:"] * (len(_COLUMNS) - 1)]
    lines = ["| " + " | ".join(cells) + " |" for cells in (_COLUMNS, ruler, *_cells(rows))]
    return "\n".join([*lines, "", str(protocol)]) + "\n"


def _cells(rows: Mapping[str, Score]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{score.pictures:,}",
            f"{100 * score.accuracy:.1f} ± {100 * score.deviation:.1f}",
            f"{score.cramer_von_mises:.3f}",
            f"{100 * score.extremes:.2f}",
        )
        for name, score in rows.items()
    ]
