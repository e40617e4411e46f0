"""How `lqm study --estimate` is printed."""

from lqm.api.cells import Place
from lqm.api.study_estimate import Estimate, estimate
from lqm.api.study_run import unfinished
from lqm.api.tuning import planned_trials
from lqm.cli.documents import PlanDocument
from lqm.cli.documents.planned import PlannedEntry
from lqm.cli.output import Output
from lqm.engine.forecast import SHORTER, duration, hours_warning
from lqm.report.tables import plain_table
from lqm.studies.cell import Cell
from lqm.studies.lines import CELLS
from lqm.studies.tuned import TUNING
from lqm.utils.limits import size_text
from lqm.utils.log import say, warn
from lqm.utils.settings import Count, check


def print_estimate(cells: list[Cell], place: Place, jobs: int, output: Output, *, tune: bool) -> None:
    """Print what the cells that are still to run will take."""
    check("jobs", jobs, Count)
    trials = planned_trials(cells, place) if tune else []
    left = [*unfinished(place.folder / TUNING, trials), *unfinished(place.folder / CELLS, cells)]
    total = len(trials) + len(cells)
    found = estimate(left, place, shown=not output.quiet) if left else []
    seconds = sum(each.seconds / (1 if each.bank else jobs) for each in found)
    disk = sum(each.disk for each in found)
    memory = max((each.each.memory for each in found), default=0) * jobs
    warning = hours_warning(seconds, SHORTER["study"])
    able = [each for each in found if not each.each.sentence]
    for each in found:
        if each.each.sentence:
            warn(f"{each.name} can't be run: {each.each.sentence}")
    told = "cells are left" if able == found else "cells are left, some of which can't be run"
    summary = f"{len(left)} of {total} {told}" if left else f"all {total} cells are done"
    if output.json:
        output.document(
            PlanDocument(
                command="study",
                source="",
                settings=[],
                result=summary,
                work=[_entry(each) for each in found],
                seconds=seconds,
                memory=memory,
                disk=disk,
                warnings=[warning] if warning else [],
            )
        )
    elif not left:
        say(summary)
    else:
        _print_table(able)
        say(
            f"{summary}: about {duration(seconds)} at {jobs} at a time, "
            f"{size_text(memory)} of memory and {size_text(disk)} on the disk"
        )
    if warning:
        warn(warning)


def _print_table(able: list[Estimate]) -> None:
    from rich.console import Console

    rows = [
        (("" if each.measured else "~ ") + duration(each.each.seconds), f"{each.count:.3g} x", each.name)
        for each in able
    ]
    Console().print(plain_table(("time", "cells", "bank, or kind of cell"), rows))
    if others := sum(not each.measured for each in able):
        say(f"~ was not measured, and taken from a kind that is like it: {others} of {len(able)} kinds")


def _entry(each: Estimate) -> PlannedEntry:
    return PlannedEntry(
        name=each.name,
        count=each.count,
        seconds=each.each.seconds,
        memory=each.each.memory,
        disk=each.each.disk,
        measured=each.measured,
        problem=each.each.sentence,
    )
