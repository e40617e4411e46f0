"""Tables for the terminal."""

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from lqm.evaluation.markdown import Rows, Scores, score_layout
from lqm.evaluation.protocol import Protocol
from lqm.utils.terminal import visible_lines

# So many networks fit into 80 columns with their deviations beside the accuracies.
_SIDE_BY_SIDE = 4


def score_table(by_network: Mapping[str, Scores], protocol: Protocol, mosaics: int | None = None) -> Table:
    """All numbers by one kind of network, or the accuracies by several; see `score_layout`."""
    header, rows, notes = score_layout(by_network, protocol, mosaics)
    if len(by_network) > _SIDE_BY_SIDE:
        rows = [tuple(cell.replace(" ±", "\n±") for cell in row) for row in rows]
    return plain_table(header, rows, "\n".join(notes))


def contrast_table(rows: Rows, caption: str) -> Table:
    """Rows of `lqm.evaluation.contrasts.COLUMNS`, each in two lines, which fit into 80 columns."""
    header = ("side", "against", "points", "95 % by t\nbootstrap", "pairs", "p\nHolm p", "verdict")
    lines = [
        (side, against, points, f"{t}\n{bootstrap}", pairs, f"{p}\n{holm}", verdict.replace("be ", "be\n"))
        for side, against, points, t, bootstrap, pairs, p, holm, verdict in rows
    ]
    return plain_table(header, lines, caption, "differences of pairs")


def plain_table(header: Sequence[str], rows: Rows, caption: str = "", title: str = "") -> Table:
    """A table for the terminal; the first column to the left, the others to the right.

    What stands in it is text: a folder may be called `[red]`.
    """
    table = Table(
        box=box.SIMPLE,
        pad_edge=False,
        collapse_padding=True,
        caption=_text(caption) if caption else None,
        caption_justify="left",
        title=_text(title) if title else None,
        title_justify="left",
    )
    for index, column in enumerate(header):
        table.add_column(_text(column), justify="right" if index else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(_text, row))
    return table


def _text(cell: str) -> Text:
    return Text(visible_lines(cell))
