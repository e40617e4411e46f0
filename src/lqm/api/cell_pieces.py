"""The cells of a study as pieces of work."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from lqm.api.cells import RUNS, Place, failed_line, request_of, run_cell
from lqm.api.domains import domain_of
from lqm.api.engines import executor_for, threads_for
from lqm.api.requests import ContinualRequest
from lqm.engine import resolve_device
from lqm.executors import Do, Lost, Piece, Work, computing_with
from lqm.executors.folders import packed_files, unpack_files
from lqm.graphs.domain import GRAPHS
from lqm.studies.cell import Cell
from lqm.studies.lines import CellLine, StudyHead
from lqm.utils.cache import Packed
from lqm.utils.errors import DataError

_CELL, _LINE = TypeAdapter(Cell), TypeAdapter(CellLine)
_HEAD, _PLACE = TypeAdapter(StudyHead), TypeAdapter(Place)


def lines_of(
    cells: Sequence[Cell], head: StudyHead, place: Place, begins: Callable[[Cell], None]
) -> Iterator[CellLine]:
    """The lines of cells, as they come.

    Args:
        cells: what to run.
        head: of the study.
        place: where it is, and by which engine its cells run.
        begins: is called before a cell is handed out.
    """
    work, pieces = cell_work(cells, head, place, begins)
    by_name = {cell.name: cell for cell in cells}
    with computing_with(work.threads):
        yield from _kept(executor_for(place.engine).map(work, pieces), by_name, head, place)


def cell_work(
    cells: Sequence[Cell], head: StudyHead, place: Place, begins: Callable[[Cell], None] = lambda cell: None
) -> tuple[Work, Iterator[Piece]]:
    """What is to be done for cells, and its pieces.

    On this machine a cell runs in the folder of the study, and one that was stopped goes on from its
    checkpoint. A worker of Ray runs it in a folder of its own, of which this process gets the files.
    """
    apart = place.engine.engine == "ray"
    context = {"head": _HEAD.dump_python(head, mode="json"), "place": _PLACE.dump_python(place, mode="json")}
    identities: dict[str, Any] = {}

    def pieces() -> Iterator[Piece]:
        for cell in cells:
            begins(cell)
            notes = {"cell": _CELL.dump_python(cell, mode="json"), "apart": apart}
            files = {}
            if apart:
                notes["identity"] = _identity(cell, place, identities)
                files = packed_files(place.folder / RUNS / cell.folder)
            yield Piece(cell.name, Packed(files, notes))

    work = Work(
        do=open_cell_work(context, None),
        opener=f"{__name__}:open_cell_work",
        context=context,
        threads=threads_for(place.engine),
        device=resolve_device(place.device).type,
    )
    return work, pieces()


def _kept(
    results: Iterator[tuple[Piece, Packed | Lost]], cells: Mapping[str, Cell], head: StudyHead, place: Place
) -> Iterator[CellLine]:
    """The lines among results; what a worker has made is written to the folder of the study."""
    for piece, found in results:
        cell = cells[piece.name]
        if isinstance(found, Lost):
            yield failed_line(cell, head, place, found.sentence)
            continue
        if found.tensors:
            unpack_files(found.tensors, place.folder / RUNS / cell.folder)
        yield _LINE.validate_python(found.notes["line"])


def open_cell_work(context: Mapping[str, Any], data: object) -> Do:
    """What runs cells, in this process or in another."""
    head, place = _HEAD.validate_python(context["head"]), _PLACE.validate_python(context["place"])

    def do(given: Packed) -> Iterator[Packed]:
        cell = _CELL.validate_python(given.notes["cell"])
        if not given.notes["apart"]:
            yield Packed({}, {"line": _LINE.dump_python(run_cell(cell, head, place), mode="json")})
            return
        _require_identity(cell, place, given.notes["identity"])
        with tempfile.TemporaryDirectory(prefix="lqm-") as scratch:
            own = replace(place, folder=Path(scratch), banks=place.banks_folder, show_progress=False)
            folder = own.folder / RUNS / cell.folder
            unpack_files(given.tensors, folder)
            line = run_cell(cell, head, own)
            yield Packed(packed_files(folder), {"line": _LINE.dump_python(line, mode="json")})

    return do


def _loaded_identity(cell: Cell, place: Place) -> Any:
    request = request_of(cell, place)
    domain = GRAPHS if isinstance(request, ContinualRequest) else domain_of(request)
    return domain.load(replace(request, show_progress=False)).identity


def _identity(cell: Cell, place: Place, known: dict[str, Any]) -> Any:
    """What the data of a cell are here; None if there are none, which costs the cell alone."""
    name = repr(sorted((key, str(value)) for key, value in cell.options.items() if key not in ("method",)))
    if name not in known:
        try:
            known[name] = _loaded_identity(cell, place)
        except DataError:
            known[name] = None
    return known[name]


def _require_identity(cell: Cell, place: Place, wanted: Any) -> None:
    """Refuse data that are called like those of the process that asks, and are others."""
    found = _loaded_identity(cell, place)
    if wanted is not None and dict(found) != dict(wanted):
        raise DataError(
            f"'{cell.options['source']}' is not the same data on this worker as where the study was started; "
            "put the data on a disk that all machines share"
        )
