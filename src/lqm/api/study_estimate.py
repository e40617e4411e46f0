"""What a study will take, before any of it starts: a few steps of each kind of cell are measured."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lqm.api.cells import Place
from lqm.api.study_banks import share_left
from lqm.api.study_probe import COST, PROBE, Cost, Probe
from lqm.engine.progress import Progress
from lqm.studies.cell import Bank, Cell


@dataclass(frozen=True)
class Estimate:
    """The cost of some cells of one kind, or of a bank.

    Attributes:
        name: of the bank, or of the cells without their seeds.
        count: how many cells; for a bank, the share of it that is still to be built.
        each: what one of them takes.
        bank: whether it is a bank, which is built before any cell starts.
    """

    name: str
    count: float
    each: Cost
    bank: bool = False

    @property
    def seconds(self) -> float:
        """Of all of them, one after another."""
        return self.count * self.each.seconds

    @property
    def disk(self) -> int:
        """Of all of them, in bytes."""
        return round(self.count * self.each.disk)


def estimate(cells: Sequence[Cell], place: Place, *, shown: bool = True) -> list[Estimate]:
    """Measure each bank and each kind of cell once; cells that differ by their seed alone are of one kind."""
    banks = {cell.bank.name: cell.bank for cell in cells if cell.bank}
    kinds: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        kinds[cell.kind].append(cell)
    found = []
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        trial = replace(place, folder=Path(scratch), show_progress=False)
        with Progress("estimate", len(banks) + len(kinds), shown=shown) as bar:
            for bank in banks.values():  # its cells are measured by the few encoders of the trial
                cost, left = _measured(bank, trial), share_left(bank, place)
                found.append(Estimate(f"bank {bank.name}", left, cost, bank=True))
                bar.update(len(found), {})
            for name, own in kinds.items():
                found.append(Estimate(name, len(own), _measured(own[0], trial)))
                bar.update(len(found), {})
    return [each for each in found if each.count or each.each.sentence]


def _measured(what: Cell | Bank, place: Place) -> Cost:
    asked = PROBE.dump_json(Probe(what, place))
    child = subprocess.run(
        [sys.executable, "-m", "lqm.api.study_probe"], input=asked, stdout=subprocess.PIPE, check=False
    )
    if child.returncode:
        return Cost(sentence=f"the trial ended with code {child.returncode}")
    return COST.validate_json(child.stdout)
