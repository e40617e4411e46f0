"""One page about runs, or about a study."""

from pathlib import Path
from typing import Annotated

import tyro

from lqm.cli.arguments import Folder, Runs, only_folders
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def report(
    runs: Runs,
    /,
    *,
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE", help_behavior_hint="")] = None,
    source: Annotated[str | None, tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")] = None,
    data_dir: Folder = None,
    output: Printed = USUAL,
) -> None:
    """Write one HTML page that shows what runs are worth.

    Example: lqm report runs/mean runs/lqm

    Args:
        runs: Runs or saved condensed sets of the same data, folders of `lqm continual`, or the folder of a
            study.
        out: The page, else report.html in the folder that the runs share.
        source: Where the real data are, if they have moved.
        data_dir: Where the named sources are, if they have moved.
        output: How it is printed.
    """
    import lqm

    path = lqm.write_report(only_folders(runs), out, source=source, data_dir=data_dir)
    if output.json:
        from lqm.cli.documents import ReportDocument

        output.document(ReportDocument(page=str(path), bytes=path.stat().st_size))
        return
    say(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB); open it in a browser")
