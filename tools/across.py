"""Accuracies of a study with the values of one axis in columns."""

from collections.abc import Sequence
from statistics import fmean

from lqm.evaluation.labels import key_of
from lqm.studies.layout import PERCENT, SPREAD, Column, Table
from lqm.studies.lines import CellLine, without
from lqm.studies.seeds import Cells, cells_of
from lqm.studies.tables import axis_columns, fact_notes


def table_across(lines: Sequence[CellLine], axis: str, *, with_mean: bool = True) -> Table:
    """A column for each value of an axis, and one for the mean over all of them where all are known.

    Cells without the axis are left out. Where several kinds of networks evaluated a cell, the first counts.
    """
    rows: dict[str, dict[str, Cells]] = {}
    for cells in cells_of(lines):
        if axis in cells.axes:
            rows.setdefault(key_of(without(cells.axes, axis)), {})[str(cells.axes[axis])] = cells
    if not rows:
        return Table("", ())
    values = [*dict.fromkeys(value for row in rows.values() for value in row)]
    spreads = [{value: cells.accuracy() for value, cells in row.items()} for row in rows.values()]
    means = [
        100 * fmean(spread.mean for spread in row.values() if spread) if len(row) == len(values) else None
        for row in spreads
    ]
    networks = [
        " / ".join(dict.fromkeys(cells.networks[0] for cells in row.values())) for row in rows.values()
    ]
    counts = [sorted({len(cells.lines) for cells in row.values()}) for row in rows.values()]
    seeds = [" to ".join(map(str, dict.fromkeys((own[0], own[-1])))) for own in counts]
    study = lines[0].study
    columns = (
        *axis_columns(
            [without(next(iter(row.values())).axes, axis) for row in rows.values()], last=study.axis
        ),
        Column("network", tuple(networks), folds=True),
        Column("seeds", tuple(seeds), folds=True),
        *(Column(value, tuple(row.get(value) for row in spreads), SPREAD) for value in values),
        *([Column("mean of all", tuple(means), PERCENT)] if with_mean else []),
    )
    title = f"Accuracy % of the study {study.name} by {axis.replace('_', ' ')}"
    spread = ["± is the sample standard deviation over seeds."] if any(own[-1] > 1 for own in counts) else []
    return Table(title, columns, (*spread, *fact_notes(lines)))
