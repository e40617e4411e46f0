"""Runs side by side."""

from lqm.cli.arguments import Runs, only_folders
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def compare(runs: Runs, /, *, output: Printed = USUAL) -> None:
    """Several runs or streams in one table; seeds share a row and form pairs.

    Example: lqm compare runs/mean runs/lqm

    Args:
        runs: Runs, saved condensed sets, or folders of `lqm continual`.
        output: How it is printed.
    """
    from rich.console import Console

    import lqm
    from lqm.condensed import load_described
    from lqm.evaluation.comparison import copies
    from lqm.evaluation.streams import is_stream
    from lqm.report.comparison import NOTE, STREAM_NOTE, comparison_tables, stream_tables

    folders = only_folders(runs)
    if not folders:
        raise lqm.LqmError("there is nothing to compare; name one or more runs")
    streams = [run for run in folders if is_stream(run)]
    sets = [load_described(run) for run in folders if run not in streams]
    same = [[sets[i].path for i in own] for own in copies(sets) if len(own) > 1]
    if output.json:
        from lqm.cli.documents import CompareDocument
        from lqm.cli.documents.comparing import set_entries, stream_entries

        equal = [[str(path) for path in paths] for paths in same]
        output.document(
            CompareDocument(runs=set_entries(sets), streams=stream_entries(streams), copies=equal)
        )
        return
    console = Console()
    if streams:
        console.print(*stream_tables(streams), STREAM_NOTE, sep="\n", highlight=False)
    if sets:
        console.print(*comparison_tables(sets), NOTE, sep="\n", highlight=False)
        for paths in same:
            say("equal byte for byte, and counted once: " + ", ".join(map(str, paths)))
