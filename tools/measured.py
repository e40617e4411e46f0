"""Put tables of measured lines into pages of the documentation: python -m tools.measured.

A page has a block for each table, which is made anew from `docs/results/measured/NAME.jsonl`:

    <!-- measured: proxy-digits -->
    ...
    <!-- end -->
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, NamedTuple

from benchmarks.sets import ranks, rehearsed
from lqm.utils.errors import LqmError
from lqm.utils.lines import read_lines
from lqm.utils.names import choose

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ("proxy.md", "replay.md")


class Table(NamedTuple):
    """How a table is made of lines, and the command that measures these."""

    make: Callable[[Sequence[dict[str, Any]]], str]
    command: str


TABLES = {
    "proxy-digits": Table(ranks.table, "python -m benchmarks.sets.proxy --out runs/proxy"),
    "proxy-cifar10": Table(
        ranks.table,
        "python -m benchmarks.sets.proxy --out runs/proxy --source cifar10 --seeds 2 --full-epochs 3 "
        "--epochs 30 --real-per-class 500 --test 2000",
    ),
    "replay": Table(rehearsed.table, "python -m benchmarks.sets.replay --out runs/replay"),
}
_WIDTH = 100
_BLOCK = re.compile(r"(<!-- measured: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def filled(page: str, folder: Path) -> str:
    """A page with its tables made anew from the lines in a folder.

    Raises:
        ConfigError: when there is no such table.
    """

    def block(found: re.Match[str]) -> str:
        table = choose(found[2], TABLES, "table")
        lines = read_lines(folder / f"{found[2]}.jsonl", None)
        made = table.make(lines) if lines else f"Not measured yet; by `{table.command}`."
        parts = (line if line.startswith("|") else fill(line, _WIDTH) for line in made.splitlines())
        wrapped = "\n".join(parts)
        return f"{found[1]}\n{wrapped}\n\n{found[3]}"

    return _BLOCK.sub(block, page)


def main(docs: Path = DOCS) -> None:
    """Write all pages."""
    for name in PAGES:
        path = docs / name
        path.write_text(
            filled(path.read_text(encoding="utf-8"), docs / "results" / "measured"), encoding="utf-8"
        )
        print(f"wrote {path}")


if __name__ == "__main__":
    try:
        main()
    except LqmError as error:
        raise SystemExit(f"tools.measured: {error}") from None
