"""A condensed set for other software."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from lqm.api.requests import QuietFlag
from lqm.cli.arguments import Name, Run
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say, warn


def export(
    run: Run,
    /,
    *,
    to: Annotated[str, tyro.conf.arg(metavar="FORM")],
    out: Path,
    license: Name = None,
    force: QuietFlag = False,
    output: Printed = USUAL,
) -> None:
    """Write a condensed set in a form that other software reads, with a dataset card.

    Example: lqm export runs/digits --to folder --out digits-10

    Args:
        run: A run, or a saved condensed set.
        to: folder (of PNGs, by class), npz, parquet (Hugging Face), png (contact sheet), torch (safetensors);
            of nodes npz, torch; of rows csv, npz, parquet, torch.
        out: The folder or file to write.
        license: What the card says of it, such as cc-by-4.0 (default: unknown).
        force: Write over an earlier export.
        output: How it is printed.
    """
    import lqm
    from lqm.condensed.privacy import copies_warning
    from lqm.report.card import UNKNOWN

    condensed = lqm.load(run)
    path = lqm.export_set(condensed, to, out, license=license, force=force)
    copies = copies_warning(condensed.manifest, quote(str(run)))
    warnings = [copies] if copies else []
    if license is None:
        warnings = ["the card says that the licence is unknown; name it with --license", *warnings]
    if output.json:
        from lqm.cli.documents import ExportDocument

        output.document(
            ExportDocument(path=str(path), form=to, license=license or UNKNOWN, warnings=warnings)
        )
    else:
        say(f"wrote {path}")
    for line in warnings:
        warn(line)
