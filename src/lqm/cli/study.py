"""`lqm study`: a grid of runs in one command."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import tyro

from lqm.cli.arguments import Folder, Name, run_folder
from lqm.utils.log import say

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
    table: Name = None,
    data_dir: Folder = None,
    device: str = "auto",
) -> None:
    """Run a grid of cells, each once; compare them in pairs.

    Example: lqm study images --scale cpu --only source=digits

    Args:
        name: images, graphs, ablation, inits, transfer, budgets, hard-labels, paper-cells, or a TOML file.
        out: Folder for its lines, runs and banks, else one in runs/; a stopped study goes on.
        scale: cpu (what two cores finish), paper (what the papers did).
        jobs: Cells at a time, each in a process of its own.
        only: Leave out cells with other values; repeat it for more axes.
        table: Print the tables as md, tex or csv.
        data_dir: Where the named sources are, else LQM_DATA.
        device: Where to compute: auto, cpu, cuda, ...
    """
    import lqm

    folder = Path(out) if out else run_folder(name, "study", scale)
    found = lqm.study(name, out=folder, scale=scale, jobs=jobs, only=only, data_dir=data_dir, device=device)
    say(f"next: lqm report {quote(str(folder))}")
    if found.failed:
        raise lqm.LqmError(f"{len(found.failed)} cells failed")
