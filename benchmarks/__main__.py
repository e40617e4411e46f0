"""One table of all works in two ways: `make bench`, or python -m benchmarks --only dm idm.

The exit code says whether every limit was met, and no ratio lies more than 15 % below the stored one.
"""

import sys

import torch
import tyro
from rich.console import Console
from rich.table import Table

from benchmarks.ratios import baseline
from benchmarks.ratios.timing import Comparison, WorkerError, compare
from benchmarks.ratios.works import WORKS
from lqm.utils.errors import ConfigError
from lqm.utils.names import choose

_WIDTH = 180


def main(only: tuple[str, ...] = (), store: bool = False, processor: bool = False) -> None:
    """Time works in two ways.

    Args:
        only: names of works; all if none is given.
        store: keep the ratios, for later ones to be held against.
        processor: count seconds of the processor, for a busy machine; on one thread, since those of all
            threads add up. Such ratios are not stored.
    """
    if processor and (store or torch.get_num_threads() > 1):
        sys.exit(
            "--processor is for one thread, and is not stored; set OMP_NUM_THREADS=1 and leave out --store"
        )
    try:
        works = {name: choose(name, WORKS, "work") for name in only or WORKS}
    except ConfigError as error:
        sys.exit(str(error))
    found: list[Comparison] = []
    failures: list[str] = []
    skipped: list[str] = []
    for name, work in works.items():
        if problem := work.problem():
            skipped.append(f"{name} was skipped: {problem}")
            continue
        print(f"{name}: {work.title} ...", file=sys.stderr, flush=True)
        try:
            found.append(compare(name, work, processor=processor))
        except WorkerError as error:
            failures.append(f"{name}: {error}")
    stored, place = baseline.read(baseline.PATH), baseline.here()
    _print_table(found, stored, place, "processor seconds" if processor else "seconds")
    for line in skipped:
        print(line)
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    if stored.place not in ({}, place):
        print(f"the stored ratios are from elsewhere: {_words(stored.place)}")
    lost = any(stored.lost(one.work.title, one.ratio) for one in found)
    if store:
        lost = False
        known = stored if only else baseline.Baseline()
        ratios = {one.work.title: one.ratio for one in found}
        baseline.write(known.renewed(place, ratios), baseline.PATH)
        print(f"stored in {baseline.PATH}")
    sys.exit(1 if failures or lost or not all(one.met for one in found) else 0)


def _print_table(
    found: list[Comparison], stored: baseline.Baseline, place: baseline.Place, clock: str
) -> None:
    table = Table("work", "plain", "plain takes", "ours takes", "ratio", "middle half", "limit", "stored")
    table.title = f"{_words(place)}; medians of {clock}, in turn"
    for one in found:
        before = stored.ratios.get(one.work.title)
        cell = "-" if before is None else f"{one.number(before):.2f}"
        if stored.lost(one.work.title, one.ratio):
            cell += " SLOWER NOW"
        table.add_row(*one.row(), cell)
    console = Console()
    # Lines that are cut are worse than lines that are long.
    Console(width=max(console.width, _WIDTH)).print(table)


def _words(place: baseline.Place) -> str:
    return f"{place['machine']}, torch {place['torch']}, {place['threads']} threads"


if __name__ == "__main__":
    tyro.cli(main)
