"""What a study will take, before any of it starts: a few steps of each kind of cell are measured."""

import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from lqm.api.cells import Place
from lqm.api.costs import Cost
from lqm.api.study_banks import share_left
from lqm.api.study_probe import COST, PROBE, Probe
from lqm.engine.progress import Progress
from lqm.studies.cell import Bank, Cell

# Kinds are measured for so long; a study may have many.
MOST_SECONDS = 300.0


@dataclass(frozen=True)
class Estimate:
    """The cost of some cells of one kind, or of a bank.

    Attributes:
        name: of the bank, or of the cells without their seeds.
        count: how many cells; for a bank, the share of it that is still to be built.
        each: what one of them takes.
        bank: whether it is a bank, which is built before any cell starts.
        measured: whether these very cells were measured, or others that are like them.
    """

    name: str
    count: float
    each: Cost
    bank: bool = False
    measured: bool = True

    @property
    def seconds(self) -> float:
        """Of all of them, one after another."""
        return self.count * self.each.seconds

    @property
    def disk(self) -> int:
        """Of all of them, in bytes."""
        return round(self.count * self.each.disk)


def estimate(
    cells: Sequence[Cell], place: Place, *, shown: bool = True, seconds: float = MOST_SECONDS
) -> list[Estimate]:
    """Measure banks and kinds of cells once each; cells that differ by their seed alone are of one kind.

    Kinds that differ most are measured first. After so many seconds the others are taken to be like those
    with which they share the most axes.
    """
    banks = {cell.bank.name: cell.bank for cell in cells if cell.bank}
    kinds: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        kinds[cell.kind].append(cell)
    found: dict[str, Estimate] = {}
    began = time.monotonic()
    with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        trial = replace(place, folder=Path(scratch), show_progress=False)
        with Progress("estimate", len(banks) + len(kinds), shown=shown, each="kind") as bar:

            def note(each: Estimate) -> None:
                found[each.name] = each
                hours = sum(one.seconds for one in found.values()) / 3600
                bar.update(len(found), {"hours so far": hours})

            for bank in banks.values():  # its cells are measured by the few encoders of the trial
                cost, left = _measured(bank, trial), share_left(bank, place)
                note(Estimate(f"bank {bank.name}", left, cost, bank=True))
            measured: dict[str, Cell] = {}
            for own in _unlike_first([*kinds.values()]):
                name, first = own[0].kind, own[0]
                if time.monotonic() - began < seconds or not measured:
                    measured[name] = first
                    note(Estimate(name, len(own), _measured(first, trial)))
                else:
                    like = max(measured, key=lambda other: _shared(measured[other], first))
                    note(Estimate(name, len(own), found[like].each, measured=False))
    ordered = [found[name] for name in (*(f"bank {name}" for name in banks), *kinds)]
    return [each for each in ordered if each.count or each.each.sentence]


def _unlike_first(kinds: list[list[Cell]]) -> list[list[Cell]]:
    """Kinds of cells, one for each pair of source and method before the others."""
    seen: defaultdict[tuple[object, object], int] = defaultdict(int)
    ranks = []
    for own in kinds:
        pair = own[0].options.get("source"), own[0].options.get("method")
        ranks.append(seen[pair])
        seen[pair] += 1
    return [own for _, own in sorted(zip(ranks, kinds, strict=True), key=lambda each: each[0])]


def _shared(one: Cell, other: Cell) -> int:
    """How many axes two cells have in common."""
    return sum(other.axes.get(name) == value for name, value in one.axes.items())


def _measured(what: Cell | Bank, place: Place) -> Cost:
    asked = PROBE.dump_json(Probe(what, place))
    child = subprocess.run(
        [sys.executable, "-m", "lqm.api.study_probe"], input=asked, stdout=subprocess.PIPE, check=False
    )
    if child.returncode:
        return Cost(sentence=f"the trial ended with code {child.returncode}")
    return COST.validate_json(child.stdout)
