"""Scores as a table, on the terminal and in Markdown."""

from collections.abc import Mapping

from rich import box
from rich.table import Table

from lqm.images.evaluation import EvaluationProtocol, Score

_COLUMNS = (
    "training set",
    "pictures",
    "accuracy %",
    "CvM\nbefore",
    "CvM\nafter",
    "extremes\n% before",
    "extremes\n% after",
)
_NOTE = (
    "CvM: Cramer-von Mises statistic of the latent features against the real class; extremes: share of them "
    "outside the real class's range; before and after the networks' training."
)


def score_table(rows: Mapping[str, Score], protocol: EvaluationProtocol) -> Table:
    """A table for the terminal; each row is a training set and its score."""
    table = Table(box=box.SIMPLE, pad_edge=False, caption=f"{protocol}\n{_NOTE}", caption_justify="left")
    for index, column in enumerate(_COLUMNS):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in _cells(rows):
        table.add_row(*row)
    return table


def score_markdown(rows: Mapping[str, Score], protocol: EvaluationProtocol) -> str:
    """The same as Markdown."""
    header = [column.replace("\n", " ") for column in _COLUMNS]
    ruler = ["---", *["---:"] * (len(_COLUMNS) - 1)]
    lines = ["| " + " | ".join(cells) + " |" for cells in (header, ruler, *_cells(rows))]
    return "\n".join([*lines, "", str(protocol), "", _NOTE]) + "\n"


def _cells(rows: Mapping[str, Score]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{score.pictures:,}",
            f"{100 * score.accuracy:.1f} ± {100 * score.deviation:.1f}",
            *(f"{match.cramer_von_mises:.3f}" for match in (score.before, score.after)),
            *(f"{100 * match.extremes:.2f}" for match in (score.before, score.after)),
        )
        for name, score in rows.items()
    ]
