"""A table as values, and as text: Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from lqm.evaluation.paired import interval_in_words, p_in_words
from lqm.evaluation.spread import Spread, in_points
from lqm.utils.errors import ConfigError
from lqm.utils.terminal import visible

Format = Literal["md", "tex", "csv"]
_NONE = "-"


@dataclass(frozen=True)
class Kind:
    """What the values of a column are.

    Attributes:
        shown: a value as a person reads it.
        raw: a value as a program reads it: the columns of a CSV by what follows the name of the column.
        number: whether it stands at the right.
    """

    shown: Callable[[Any], str]
    raw: dict[str, Callable[[Any], object]]
    number: bool = True


def _rounded(value: float | None, factor: float = 1.0) -> float | None:
    return None if value is None else round(factor * value, 6)


def seconds_in_words(value: float) -> str:
    """Seconds with as many digits as matter.

    Example:
        >>> seconds_in_words(3.14), seconds_in_words(1234.5)
        ('3.1', '1,234')
    """
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


TEXT = Kind(str, {"": str}, number=False)
NUMBERS = Kind(str, {"": str})
COUNT = Kind(lambda value: f"{value:,}", {"": int})
PERCENT = Kind(lambda value: f"{value:.1f}", {"": _rounded})
SPREAD = Kind(
    Spread.percent,
    {"": lambda value: _rounded(value.mean, 100), " deviation": lambda value: _rounded(value.deviation, 100)},
)
POINTS = Kind(in_points, {"": lambda value: _rounded(value, 100)})
POINTS_SPREAD = replace(
    SPREAD,
    shown=lambda value: (
        in_points(value.mean) + ("" if value.deviation is None else f" ± {100 * value.deviation:.1f}")
    ),
)
INTERVAL = Kind(
    interval_in_words,
    {" low": lambda value: _rounded(value[0], 100), " high": lambda value: _rounded(value[1], 100)},
)
P_VALUE = Kind(p_in_words, {"": float})
SECONDS = Kind(seconds_in_words, {"": lambda value: round(value, 3)})


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        values: one a row; None where there is none.
        folds: whether it moves into the caption where all rows have the same value.
    """

    name: str
    values: tuple[Any, ...]
    kind: Kind = TEXT
    folds: bool = False


class LaidOut(NamedTuple):
    """A table as text: the line above it, and what stands in its columns, some of which are numbers."""

    caption: str
    header: list[str]
    rows: list[tuple[str, ...]]
    numbers: list[bool]


@dataclass(frozen=True)
class Table:
    """Columns of as many rows, a title, and sentences that belong below."""

    title: str
    columns: tuple[Column, ...]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.columns[0].values) if self.columns else 0

    def laid_out(self) -> LaidOut:
        """For a person: columns without any value are left out, and shared values are named once."""
        known = [column for column in self.columns if any(value is not None for value in column.values)]
        shared = [column for column in known if column.folds and len(self) > 1 and _same(column.values)]
        own = [column for column in known if column not in shared]
        once = ", ".join(f"{column.name} {_shown(column, column.values[0])}" for column in shared)
        cells = [[_shown(column, value) for value in column.values] for column in own]
        return LaidOut(
            f"{self.title}: {once}" if once else self.title,
            [visible(column.name) for column in own],
            [*zip(*cells, strict=True)],
            [column.kind.number for column in own],
        )


def render(table: Table, kind: Format) -> str:
    """A table as Markdown, as LaTeX, or as CSV with numbers that are not rounded for the eye.

    Whatever stands in it is text: characters that mean something to the format are escaped, and those that
    a terminal obeys are written out.

    Raises:
        ConfigError: for another format.
    """
    if kind not in _FORMATS:
        raise ConfigError(f"a table can't be written as '{visible(kind)}'; use {', '.join(_FORMATS)}")
    return _FORMATS[kind](table)


def _same(values: Sequence[Any]) -> bool:
    return all(value == values[0] for value in values)


def _shown(column: Column, value: Any) -> str:
    return _NONE if value is None else visible(column.kind.shown(value)) or _NONE


def _as_markdown(table: Table) -> str:
    caption, header, rows, numbers = table.laid_out()
    ruler = ["---:" if number else "---" for number in numbers]
    lines = [[*map(_in_markdown, header)], ruler, *([*map(_in_markdown, row)] for row in rows)]
    drawn = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    parts = (f"**{_in_markdown(visible(caption))}**", drawn, _in_markdown(visible(" ".join(table.notes))))
    return "\n\n".join(filter(None, parts)) + "\n"


def _as_latex(table: Table) -> str:
    caption, header, rows, numbers = table.laid_out()
    lines = [" & ".join(map(_in_latex, row)) + r" \\" for row in (header, *rows)]
    return "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_in_latex(visible(caption))}}}",
            r"\begin{tabular}{" + "".join("r" if number else "l" for number in numbers) + "}",
            r"\hline",
            lines[0],
            r"\hline",
            *lines[1:],
            r"\hline",
            r"\end{tabular}",
            *([rf"\par {_in_latex(visible(' '.join(table.notes)))}"] if table.notes else []),
            r"\end{table}",
            "",
        ]
    )


def _as_csv(table: Table) -> str:
    columns = [
        (column.name + suffix, [None if value is None else raw(value) for value in column.values])
        for column in table.columns
        for suffix, raw in column.kind.raw.items()
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([visible(name) for name, _ in columns])
    for row in zip(*(values for _, values in columns), strict=True):
        writer.writerow([visible(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()


_FORMATS: dict[str, Callable[[Table], str]] = {"md": _as_markdown, "tex": _as_latex, "csv": _as_csv}
_MARKDOWN = str.maketrans({letter: f"\\{letter}" for letter in "\\|`*<>"})
_LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "{}$&#%_"}
    | {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}"}
    | {"±": r"$\pm$", "\N{MINUS SIGN}": "$-$"}
)


def _in_markdown(text: str) -> str:
    return text.translate(_MARKDOWN).replace("](", "]\\(")


def _in_latex(text: str) -> str:
    return text.translate(_LATEX)
