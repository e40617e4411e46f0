"""Figures for a paper."""

from pathlib import Path
from typing import Annotated

import tyro

from lqm.cli.arguments import Folder, Runs, only_folders
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def figures(
    runs: Runs,
    /,
    *,
    to: Annotated[Path, tyro.conf.arg(metavar="DIR")] = Path("figures"),
    source: Annotated[str | None, tyro.conf.arg(metavar="SOURCE", help_behavior_hint="")] = None,
    data_dir: Folder = None,
    output: Printed = USUAL,
) -> None:
    """Draw runs or streams for a paper, as PNG and SVG.

    Example: lqm figures runs/mean runs/lqm --to figures

    Args:
        runs: Runs, saved condensed sets, or folders of `lqm continual` or `lqm study`.
        to: Folder for the figures: latent distributions, Cramer-von Mises statistic, extreme values, contact
            sheets, accuracy by step and by budget; of streams accuracy matrices and average accuracy; of
            studies the differences. Those of the same names are replaced; a warning names what can't be
            drawn.
        source: Where the real data are, if they have moved.
        data_dir: Where the named sources are, if they have moved.
        output: How it is printed.
    """
    import lqm

    written = lqm.write_figures(only_folders(runs), to, source=source, data_dir=data_dir)
    if output.json:
        from lqm.cli.documents import FiguresDocument

        output.document(FiguresDocument(files=[*map(str, written)]))
        return
    for path in written:
        say(f"wrote {path}")
