"""What tuning has chosen: one JSON line an arm, with every score that the choice was made by."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter
from pydantic.dataclasses import dataclass

from lqm.studies.arms import Arm
from lqm.studies.cell import Cell
from lqm.studies.lines import Share, StudyHead, Value, read_records
from lqm.utils.lines import append_lines

TUNING, TUNED = "tuning.jsonl", "tuned.jsonl"


@dataclass(frozen=True)
class TunedLine:
    """What was chosen for an arm, on validation records.

    Attributes:
        arm: its name.
        axes: what tells it from the other arms.
        key: a hash of all on which the choice depends.
        chosen: the settings of the best candidate.
        candidates: the settings of all.
        rungs: after each rung, for the number of each candidate in it, the validation accuracy with each of
            its seeds so far; None for a run that failed.
        runs: how many there were.
    """

    study: StudyHead
    arm: str
    axes: dict[str, Value]
    key: str
    chosen: dict[str, Value]
    candidates: list[dict[str, Value]]
    rungs: list[dict[int, tuple[Share | None, ...]]]
    runs: int


_LINE = TypeAdapter(TunedLine)


def write_tuned(path: Path, line: TunedLine) -> None:
    """Add a line to a file; it is on the disk when this returns."""
    append_lines(path, [asdict(line)])


def read_tuned(path: Path) -> dict[str, TunedLine]:
    """The lines of a file by their keys.

    Raises:
        ArtifactError: when a line is not one of tuning.
    """
    lines = read_records(path, _LINE, "remove the line, and --tune chooses again")
    return {line.key: line for line in lines}


def with_choices(cells: Sequence[Cell], lines: Iterable[TunedLine]) -> list[Cell]:
    """Cells with the settings that were chosen for their arm, where some were."""
    chosen = {line.key: line.chosen for line in lines}
    return [replace(cell, tuned=chosen.get(Arm(cell).key, {})) if cell.tune else cell for cell in cells]
