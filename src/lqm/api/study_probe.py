"""What a cell or a bank takes, reckoned from a few of its steps; in a process of its own, for its memory."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.api.cells import Place, request_of
from lqm.api.costs import Cost, cost_of_bank, cost_of_condensing, cost_of_stream, seconds_of_evaluating
from lqm.api.requests import ContinualRequest
from lqm.api.study_banks import bank_request
from lqm.engine import resolve_device
from lqm.engine.forecast import peak_memory
from lqm.studies.cell import Bank, Cell
from lqm.utils.errors import LqmError


@dataclass(frozen=True)
class Probe:
    """A cell or a bank to measure, in a folder that is thrown away."""

    what: Cell | Bank
    place: Place


PROBE, COST = TypeAdapter(Probe), TypeAdapter(Cost)


def measure(probe: Probe) -> Cost:
    """Its cost; a sentence if it can't be run."""
    try:
        if isinstance(probe.what, Bank):
            request = bank_request(probe.what, probe.place)
            return cost_of_bank(request, Path(str(request.out)))
        with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            return _of_cell(probe.what, probe.place, Path(scratch))
    except LqmError as error:
        return Cost(sentence=str(error))


def _of_cell(cell: Cell, place: Place, scratch: Path) -> Cost:
    request = request_of(cell, place)
    if isinstance(request, ContinualRequest):
        return cost_of_stream(request, scratch)
    trial_bank = cell.bank is not None and cell.bank.kind == "experts"
    _, measured, cost = cost_of_condensing(request, scratch, trial_bank=trial_bank)
    more = seconds_of_evaluating(
        measured.result(seconds=0.0),
        measured.source,
        resolve_device(request.device),
        cell.evaluation,
        **cell.compute,
    )
    return replace(cost, seconds=cost.seconds + more, memory=peak_memory())


if __name__ == "__main__":
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    answer.write(COST.dump_json(measure(PROBE.validate_json(sys.stdin.read()))).decode())
    answer.close()
