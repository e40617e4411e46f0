"""Small pieces of HTML for notebooks: whatever stands in them is text."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from lqm.utils.terminal import visible


def text(words: object) -> str:
    r"""A text, with what HTML obeys escaped and what would not be seen written out.

    Example:
        >>> text("<b>\n")
        '&lt;b&gt;\\n'
    """
    return escape(visible(words))


def paragraph(words: object, *, small: bool = False) -> str:
    """A line of text; a small one is a note."""
    style = ' style="font-size:85%;color:gray"' if small else ""
    return f"<p{style}>{text(words)}</p>"


def heading(words: object) -> str:
    """The line that says what is shown."""
    return f"<p><b>{text(words)}</b></p>"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the first column to the left, the others to the right."""
    lines = [_row(header, "th"), *(_row(row, "td") for row in rows)]
    return f"<table>{''.join(lines)}</table>"


def png(content: bytes, alt: str) -> str:
    """A PNG file inside of the page, with its pixels shown as they are."""
    data = b64encode(content).decode()
    return f'<img alt="{text(alt)}" style="image-rendering:pixelated" src="data:image/png;base64,{data}">'


def bar(share: float) -> str:
    """A bar of progress that is full at 1."""
    return f'<progress max="1" value="{share:.4f}" style="width:12em"></progress>'


def _row(cells: Sequence[str], kind: str) -> str:
    sides = ["left", *["right"] * (len(cells) - 1)]
    drawn = (
        f'<{kind} style="text-align:{side}">{text(" ".join(cell.split()))}</{kind}>'
        for side, cell in zip(sides, cells, strict=True)
    )
    return f"<tr>{''.join(drawn)}</tr>"
