"""Cells, one after another or several at a time: what has a line is skipped, what was stopped goes on."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock

from lqm.api.cell_pieces import lines_of
from lqm.api.cells import Place, check_cell, failed_line
from lqm.api.checking import check_types
from lqm.api.study_banks import bank_request, bank_seconds, build_banks
from lqm.api.study_progress import GridProgress
from lqm.studies.cell import Bank, Cell
from lqm.studies.folder import require_one_scale
from lqm.studies.lines import CellLine, StudyHead, read_cells, write_cell
from lqm.utils.locks import taking

_LOCK = ".study.lock"


def check_cells(cells: Sequence[Cell], place: Place) -> None:
    """Refuse what can be refused of cells and of their banks before any of them starts."""
    for cell in {cell.kind: cell for cell in cells}.values():
        check_cell(cell, place)
    for bank in _banks(cells):
        check_types(bank_request(bank, place))


@contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Let one process at a time run the study of a folder, which is made when missing.

    Raises:
        ArtifactError: when another process does, or the folder can't be used.
    """
    lock = FileLock(folder / _LOCK)
    with taking(folder, "a study"):
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    try:
        yield
    finally:
        lock.release()


def unfinished(path: Path, cells: Sequence[Cell]) -> list[Cell]:
    """The cells that have no line in a file, or one that says why they failed."""
    known = {line.key for line in read_cells(path) if line.state == "done"}
    return [cell for cell in cells if cell.key not in known]


def finish(
    path: Path, head: StudyHead, cells: Sequence[Cell], place: Place, *, shown: bool = True
) -> list[CellLine]:
    """Run the cells that have no line in a file yet, and add their lines; gives those of all cells.

    A cell that failed runs again. Banks that cells share are built first. A line that was written under
    another title, comparison or published number is written again under the present one.
    """
    lines = read_cells(path)
    require_one_scale(path, lines, head.scale)
    known = {line.key: line for line in lines if line.state == "done"}
    missing = [cell for cell in cells if cell.key not in known]
    broken = build_banks(_banks(missing), place)
    seconds = bank_seconds(place.folder)
    able = [cell for cell in missing if not (cell.bank and cell.bank.name in broken)]
    found, asked = {**known}, {cell.key: cell for cell in cells}

    def keep(line: CellLine) -> None:
        write_cell(path, line)
        found[line.key] = line

    def with_bank(line: CellLine) -> CellLine:
        bank = asked[line.key].bank
        if bank is None or line.state == "failed":
            return line
        return replace(line, seconds=line.seconds | {"bank": round(seconds.get(bank.name, 0.0), 3)})

    for cell in cells:
        line = known.get(cell.key)
        if line and (line.study, line.paper) != (head, cell.paper):
            keep(replace(line, study=head, paper=cell.paper))
    for cell in missing:
        if cell.bank and cell.bank.name in broken:
            keep(failed_line(cell, head, place, broken[cell.bank.name]))
    progress = GridProgress(len(cells), known.values(), able, shown=shown)
    one_by_one = place.engine.engine == "local" and place.engine.processes == 1
    begins = progress.begins if one_by_one else lambda cell: None
    for line in map(with_bank, lines_of(able, head, place, begins)):
        keep(line)
        progress.finished(line)
    return [found[cell.key] for cell in cells]


def _banks(cells: Sequence[Cell]) -> list[Bank]:
    return [*{cell.bank.name: cell.bank for cell in cells if cell.bank}.values()]
