"""What `make demo` shows."""

from pathlib import Path

from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def demo(*, out: Path = Path("runs/demo"), seed: int = 0, output: Printed = USUAL) -> None:
    """Condense digits by mean and by quantile matching, and compare.

    Example: lqm demo

    Args:
        out: Folder for the runs, the images and the report.
        seed: The first of three; everything random follows from them.
        output: How it is printed.
    """
    from rich.console import Console

    from lqm.api.demo import demo as run_demo
    from lqm.api.demo import demo_table, introduction

    output.hint(introduction())
    found = run_demo(out, seed, show_progress=not output.quiet)
    if output.json:
        from lqm.cli.documents import DemoDocument
        from lqm.cli.documents.base import DifferenceEntry, SpreadEntry
        from lqm.cli.documents.results import DemoEntry

        rows = [
            DemoEntry(training_set=name, records=found.records(name), accuracy=SpreadEntry.of(spread))
            for name, spread in found.spreads.items()
        ]
        difference = DifferenceEntry.of("lqm", "mean", found.paired, found.paired.p)
        output.document(DemoDocument(rows=rows, difference=difference, page=str(found.page)))
        return
    console = Console()
    console.print(demo_table(found))
    line = f"by lqm less by mean: {found.paired}: {found.paired.verdict}"
    console.print(line, highlight=False, markup=False)
    say(f"wrote {found.page}; open it in a browser")
