"""How arguments that several commands have are shown in their help."""

import re
from pathlib import Path
from typing import Annotated

import tyro

Source = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="SOURCE")]
Runs = Annotated[
    tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")
]
Run = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
Name = Annotated[str | None, tyro.conf.arg(metavar="NAME", help_behavior_hint="")]
Folder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER", help_behavior_hint="")]
Names = Annotated[str | None, tyro.conf.arg(metavar="NAME,...", help_behavior_hint="")]
Budget = Annotated[str | None, tyro.conf.arg(metavar="N|N%", help_behavior_hint="")]
Budgets = Annotated[str | None, tyro.conf.arg(metavar="N|N%,...", help_behavior_hint="")]
Number = Annotated[int | None, tyro.conf.arg(metavar="N", help_behavior_hint="")]
Numbers = Annotated[str | None, tyro.conf.arg(metavar="N,...", help_behavior_hint="")]
Share = Annotated[float | None, tyro.conf.arg(metavar="SHARE", help_behavior_hint="")]
Assignments = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="set", metavar="NAME=VALUE", help_behavior_hint=""),
]


def run_folder(source: str, *words: str | None) -> Path:
    """Where a run goes whose folder was not named: `runs/` and what it is of.

    Example:
        >>> run_folder("data/cora.npz", "cat", None).as_posix(), run_folder("synthetic:nodes=500").as_posix()
        ('runs/cora-cat', 'runs/synthetic-nodes=500')
    """
    path = Path(source)
    word = path.stem if path.exists() or len(path.parts) > 1 else source
    name = re.sub(r"[^\w.=-]+", "-", word).strip("-.")
    return Path("runs", "-".join(filter(None, (name, *words))))


def only_folders(runs: tuple[Path, ...]) -> list[Path]:
    """The runs that were named, without the reports and figures that `runs/*` names too."""
    return [run for run in runs if not run.is_file()] or [*runs]


def settings_of(assignments: tuple[str, ...], **shortcuts: object) -> dict[str, object]:
    """The settings that `--set` and options of their own name gave; an option that was not given is None.

    Example:
        >>> settings_of(("steps=500",), start="noise", real_batch=None)
        {'steps': '500', 'start': 'noise'}
    """
    from lqm.utils.settings import parse_assignments

    given = {name: value for name, value in shortcuts.items() if value is not None}
    return parse_assignments(assignments) | given
