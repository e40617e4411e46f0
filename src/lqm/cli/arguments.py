"""How arguments that several commands have are shown in their help."""

import re
from pathlib import Path
from typing import Annotated

import tyro

from lqm.api.engine_request import EngineRequest, Name
from lqm.api.requests import Folder

Names = Annotated[str | None, tyro.conf.arg(metavar="NAME,...", help_behavior_hint="")]
Runs = Annotated[
    tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN ...", help_behavior_hint="")
]
Run = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
Assignments = Annotated[
    tyro.conf.UseAppendAction[tuple[str, ...]],
    tyro.conf.arg(name="set", metavar="NAME=VALUE", help_behavior_hint=""),
]
# For commands that are functions: the options of an engine, in a box of their own.
Pieces = Annotated[EngineRequest, tyro.conf.OmitArgPrefixes, tyro.conf.arg(name="engine")]
USUAL_ENGINE = EngineRequest()

__all__ = [
    "USUAL_ENGINE",
    "Assignments",
    "Folder",
    "Name",
    "Names",
    "Pieces",
    "Run",
    "Runs",
    "only_folders",
    "run_folder",
    "settings_of",
]


def run_folder(source: str, *words: str | None) -> Path:
    """Where a run goes whose folder was not named: `runs/` and what it is of.

    Example:
        >>> run_folder("data/cora.npz", "cat", None).as_posix(), run_folder("synthetic:nodes=500").as_posix()
        ('runs/cora-cat', 'runs/synthetic-nodes=500')
        >>> run_folder("digits", "dm", "shape:weight=3").as_posix()
        'runs/digits-dm-shape-weight=3'
    """
    path = Path(source)
    word = path.stem if path.exists() or len(path.parts) > 1 else source
    names = (re.sub(r"[^\w.=-]+", "-", part).strip("-.") for part in (word, *words) if part)
    return Path("runs", "-".join(names))


def only_folders(runs: tuple[Path, ...]) -> list[Path]:
    """The runs that were named, without the reports and figures that `runs/*` names too."""
    return [run for run in runs if not run.is_file()] or [*runs]


def settings_of(assignments: tuple[str, ...], **shortcuts: object) -> dict[str, object]:
    """The settings that `--set` and options of their own name gave; an option that was not given is None.

    Example:
        >>> settings_of(("steps=500",), init="noise", real_batch=None)
        {'steps': '500', 'init': 'noise'}
    """
    from lqm.utils.settings import parse_assignments

    given = {name: value for name, value in shortcuts.items() if value is not None}
    return parse_assignments(assignments) | given
