"""`lqm study`: a grid of runs in one command."""

from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from lqm.api.requests import Flag
from lqm.cli.arguments import USUAL_ENGINE, Folder, Name, Pieces, run_folder
from lqm.cli.output import USUAL_WORK, WorkPrinted
from lqm.utils.sentences import counted

if TYPE_CHECKING:
    from lqm import StudyResult
    from lqm.cli.documents import StudyDocument

Filters = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(metavar="AXIS=VALUE,...", help_behavior_hint=""),
]
Study = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="STUDY")]


def study(
    name: Study,
    /,
    *,
    out: Folder = None,
    scale: Name = None,
    only: Filters = (),
    table: Literal["md", "tex", "csv"] = "md",
    tune: Flag = False,
    estimate: Flag = False,
    data_dir: Folder = None,
    device: str = "auto",
    pieces: Pieces = USUAL_ENGINE,
    output: WorkPrinted = USUAL_WORK,
) -> None:
    """Run a grid of cells, each once; compare them in pairs.

    Example: lqm study images --scale cpu --only source=digits

    Args:
        name: images, graphs, streams, best, rivals, biases, shape, ablation, inits, transfer, budgets,
            families, hard-labels, lengths, paper-cells, or a TOML file.
        out: Folder for its lines, runs and banks, else one in runs/; a stopped study goes on.
        scale: cpu (what two cores finish), paper (what the papers did).
        only: Leave out cells with other values; repeat it for more axes.
        table: How the tables are printed.
        tune: Choose the settings that the study leaves open first, on validation records.
        estimate: Measure a few steps of each kind, print hours, memory and disk, and run nothing.
        data_dir: Where the named sources are, else LQM_DATA.
        device: Where to compute: auto, cpu, cuda, ...
        pieces: Where cells run.
        output: How it is printed.
    """
    import lqm
    from lqm.api.study import plan_study
    from lqm.cli.study_estimate import print_estimate
    from lqm.studies.layout import render
    from lqm.studies.tables import all_tables

    folder = Path(out) if out else run_folder(name, "study", scale)
    if estimate or output.dry_run:
        planned = plan_study(name, folder, scale, only, data_dir, device)[1:]
        print_estimate(*planned, pieces.processes, output, tune=tune)
        return
    found = lqm.study(
        name,
        out=folder,
        scale=scale,
        **asdict(pieces),
        only=only,
        tune=tune,
        data_dir=data_dir,
        device=device,
        show_progress=not output.quiet,
    )
    if output.json:
        output.document(_document(found))
    else:
        for each in all_tables(found.lines):
            print(render(each, table))
    output.hint(f"next: lqm report {quote(str(folder))}")
    if found.failed:
        lost = counted(len(found.failed), "cell has failed and runs", "cells have failed and run")
        raise lqm.LqmError(f"{lost} again with the same command; the last table says why")


def _document(found: "StudyResult") -> "StudyDocument":
    from lqm.cli.documents import StudyDocument
    from lqm.cli.documents.base import DifferenceEntry, entry
    from lqm.cli.documents.studies import CellEntry
    from lqm.studies.pairs import comparisons

    return StudyDocument(
        study=found.head.name,
        scale=found.head.scale,
        folder=str(found.folder),
        cells=[entry(CellEntry, line) for line in found.lines],
        differences=[
            DifferenceEntry.of(str(each.side), str(each.against), each.paired, each.holm, each.group)
            for each in comparisons(found.lines)
        ],
    )
