"""Runs side by side."""

from lqm.cli.arguments import Runs, only_folders
from lqm.utils.log import say


def compare(runs: Runs, /) -> None:
    """Several runs or streams in one table; seeds share a row and form pairs.

    Example: lqm compare runs/mean runs/lqm

    Args:
        runs: Runs, saved condensed sets, or folders of `lqm continual`.
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
    console = Console()
    if streams:
        console.print(*stream_tables(streams), STREAM_NOTE, sep="\n", highlight=False)
    if sets:
        console.print(*comparison_tables(sets), NOTE, sep="\n", highlight=False)
        for same in copies(sets):
            if len(same) > 1:
                say("equal byte for byte, and counted once: " + ", ".join(str(sets[i].path) for i in same))
