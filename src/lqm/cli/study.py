"""`lqm study`: a grid of runs in one command."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from lqm.api.requests import Flag
from lqm.cli.arguments import Folder, Name, run_folder
from lqm.utils.log import say, warn
from lqm.utils.sentences import counted

if TYPE_CHECKING:
    from lqm.api.cells import Place
    from lqm.studies.cell import Cell

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
    jobs: int = 1,
    only: Filters = (),
    table: Literal["md", "tex", "csv"] = "md",
    tune: Flag = False,
    estimate: Flag = False,
    data_dir: Folder = None,
    device: str = "auto",
) -> None:
    """Run a grid of cells, each once; compare them in pairs.

    Example: lqm study images --scale cpu --only source=digits

    Args:
        name: images, graphs, ablation, inits, transfer, budgets, families, hard-labels, lengths, paper-cells,
            or a TOML file.
        out: Folder for its lines, runs and banks, else one in runs/; a stopped study goes on.
        scale: cpu (what two cores finish), paper (what the papers did).
        jobs: Cells at a time, each in a process of its own.
        only: Leave out cells with other values; repeat it for more axes.
        table: How the tables are printed.
        tune: Choose the settings that the study leaves open first, on validation records.
        estimate: Measure a few steps of each kind, print hours, memory and disk, and run nothing.
        data_dir: Where the named sources are, else LQM_DATA.
        device: Where to compute: auto, cpu, cuda, ...
    """
    import lqm
    from lqm.api.study import plan_study
    from lqm.studies.layout import render
    from lqm.studies.tables import all_tables

    folder = Path(out) if out else run_folder(name, "study", scale)
    if estimate:
        _estimate(*plan_study(name, folder, scale, only, data_dir, device)[1:], jobs, tune=tune)
        return
    found = lqm.study(
        name, out=folder, scale=scale, jobs=jobs, only=only, tune=tune, data_dir=data_dir, device=device
    )
    for each in all_tables(found.lines):
        print(render(each, table))
    say(f"next: lqm report {quote(str(folder))}")
    if found.failed:
        lost = counted(len(found.failed), "cell has failed and runs", "cells have failed and run")
        raise lqm.LqmError(f"{lost} again with the same command; the last table says why")


def _estimate(cells: "list[Cell]", place: "Place", jobs: int, *, tune: bool) -> None:
    """Print what the cells that are still to run will take."""
    from rich.console import Console

    from lqm.api.study_estimate import estimate
    from lqm.api.study_run import unfinished
    from lqm.api.tuning import planned_trials
    from lqm.engine.forecast import duration
    from lqm.report.tables import plain_table
    from lqm.studies.lines import CELLS
    from lqm.studies.tuned import TUNING
    from lqm.utils.limits import size_text
    from lqm.utils.settings import Count, check

    check("jobs", jobs, Count)
    trials = planned_trials(cells, place) if tune else []
    left = [*unfinished(place.folder / TUNING, trials), *unfinished(place.folder / CELLS, cells)]
    total = len(trials) + len(cells)
    if not left:
        say(f"all {total} cells are done")
        return
    found = estimate(left, place)
    able = [each for each in found if not each.each.sentence]
    for each in found:
        if each.each.sentence:
            warn(f"{each.name} can't be run: {each.each.sentence}")
    rows = [(duration(each.each.seconds), f"{each.count:.3g} x", each.name) for each in able]
    Console().print(plain_table(("time", "cells", "bank, or kind of cell"), rows))
    seconds = sum(each.seconds / (1 if each.bank else jobs) for each in found)
    disk = sum(each.disk for each in found)
    most = max(each.each.memory for each in found)
    told = "cells are left" if able == found else "cells are left, some of which can't be run"
    say(
        f"{len(left)} of {total} {told}: about {duration(seconds)} at {jobs} at a time, "
        f"{size_text(most * jobs)} of memory and {size_text(disk)} on the disk"
    )
