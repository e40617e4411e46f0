"""A condensed set for other software."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from lqm.cli.arguments import Run
from lqm.utils.log import say


def export(run: Run, /, *, to: Annotated[str, tyro.conf.arg(metavar="FORM")], out: Path) -> None:
    """Write a condensed set in a form that other software reads.

    Example: lqm export runs/digits --to folder --out digits-10

    Args:
        run: A run, or a saved condensed set.
        to: folder (of PNGs, by class), npz, parquet (Hugging Face), png (contact sheet), torch (safetensors);
            of nodes npz, torch.
        out: The folder or file to write.
    """
    import lqm
    from lqm.condensed.export import export as write
    from lqm.condensed.privacy import copies_warning
    from lqm.utils.log import warn

    condensed = lqm.load(run)
    say(f"wrote {write(condensed, to, out)}")
    if line := copies_warning(condensed.manifest, quote(str(run))):
        warn(line)
