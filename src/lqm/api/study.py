"""Study: a grid of runs, each of them once, and one line of what each has found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lqm.api.cells import Place
from lqm.api.checking import check_types
from lqm.api.engine_request import EngineRequest
from lqm.api.engines import executor_for
from lqm.api.study_run import check_cells, finish, in_use
from lqm.api.tuning import chosen_before, tune_cells
from lqm.engine import resolve_device
from lqm.executors import InProcess
from lqm.studies.cell import Cell, Study
from lqm.studies.files import load_study
from lqm.studies.grid import chosen
from lqm.studies.lines import CELLS, CellLine, StudyHead
from lqm.studies.tables import all_tables
from lqm.utils.errors import ConfigError
from lqm.utils.html import heading, paragraph, table
from lqm.utils.log import warn
from lqm.utils.sentences import counted


@dataclass(frozen=True, repr=False)
class StudyResult:
    """What a study has found so far.

    Attributes:
        head: what it is called, and what it compares.
        lines: of the cells that were asked for, in the order of the study.
        folder: where they are.
    """

    head: StudyHead
    lines: tuple[CellLine, ...]
    folder: Path

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        lost = f", {len(self.failed)} failed" if self.failed else ""
        return f"StudyResult({self.head.name}: {counted(len(self), 'cell', 'cells')}{lost})"

    def _repr_html_(self) -> str:
        """What a notebook shows: scores, differences, and cells that failed."""
        parts = [paragraph(self.head.title)] if self.head.title else []
        for found in all_tables(self.lines):
            caption, header, rows, _ = found.laid_out()
            notes = paragraph(" ".join(found.notes), small=True) if found.notes else ""
            parts.append(heading(caption) + table(header, rows) + notes)
        return "".join(parts) or paragraph(repr(self))

    @property
    def failed(self) -> list[CellLine]:
        """The cells that have a sentence in place of scores."""
        return [line for line in self.lines if line.state == "failed"]


def study(
    name: str | Path,
    *,
    out: str | Path,
    scale: str | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
    tune: bool = False,
    data_dir: str | Path | None = None,
    device: str = "auto",
    engine: str = "local",
    address: str | None = None,
    threads: int | None = None,
    show_progress: bool = True,
) -> StudyResult:
    """Run what is missing of a study; a stopped one goes on.

    Args:
        name: of a study that comes with the software, or the path of a TOML file; see docs/studies.md.
        out: the folder of the study, with `cells.jsonl`, its runs and its banks.
        scale: `cpu` or `paper`, where the study has both; the first of them if none is given.
        jobs: how many cells run at a time, each in a process of its own.
        only: filters such as `source=digits,mnist` or `seed=0..2`; a cell must pass all of them.
        tune: choose the settings that the study leaves open first, for every distance alike, on validation
            records; what was chosen in this folder before is taken in any case.
        data_dir: where the named sources are, else LQM_DATA.
        device: where to compute.
        engine: what runs cells and builds banks: `local`, or `ray`, on the machines of a cluster.
        address: of that cluster: `auto`, or `HOST:PORT`; without it, Ray is started on this machine.
        threads: with which each cell computes, all cores by default.
        show_progress: whether to show the progress of the grid, and of each cell if one runs at a time.

    Raises:
        LqmError: for anything in the study that can't be used, before any of it starts.
    """
    wanted, cells, place = plan_study(name, out, scale, only, data_dir, device)
    pieces = EngineRequest(engine=engine, address=address, jobs=jobs, threads=threads)
    check_types(pieces)
    alone = isinstance(executor_for(pieces), InProcess)
    place = replace(place, show_progress=show_progress and alone, engine=pieces)
    with in_use(place.folder):
        if tune:
            cells = tune_cells(wanted.head, cells, place, shown=show_progress)
        elif any(cell.tune and not cell.tuned for cell in cells):
            warn("settings that `--tune` would choose are those of the recipes, for every distance alike")
        lines = finish(place.folder / CELLS, wanted.head, cells, place, shown=show_progress)
    return StudyResult(wanted.head, tuple(lines), place.folder)


def plan_study(
    name: str | Path,
    out: str | Path,
    scale: str | None,
    only: Sequence[str],
    data_dir: str | Path | None,
    device: str,
) -> tuple[Study, list[Cell], Place]:
    """A study, the cells of it that are asked for, and where they run; all checked, none started."""
    resolve_device(device)
    wanted = load_study(name, scale)
    place = Place(Path(out), str(data_dir) if data_dir else None, device)
    if place.folder.exists() and not place.folder.is_dir():
        raise ConfigError(f"{out} is a file; give the folder of a study, or that of a new one")
    cells = chosen_before(chosen(wanted.cells, only), place)
    check_cells(cells, place)
    return wanted, cells, place
