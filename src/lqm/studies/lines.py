"""What a study has found: one JSON line a cell, from which alone its tables and figures are made."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, field
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from lqm.utils.errors import ArtifactError
from lqm.utils.lines import append_lines, read_log, warn_of_damage

CELLS = "cells.jsonl"
# The axis of cells that differ in method, distance and settings at once, by a name for each of these.
ARM = "arm"

_Record = TypeVar("_Record")
Value = str | int | float | bool
Share = Annotated[float, Field(ge=-1, le=1)]
Shares = Annotated[tuple[Share, ...], Field(min_length=1)]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]


@dataclass(frozen=True)
class StudyHead:
    """The study that a cell belongs to.

    Attributes:
        name: of the file that describes it.
        title: what it asks, in a line.
        scale: `cpu`, `paper`, or nothing where the file knows one scale only.
        axis: along which values are compared, such as `distance`.
        against: the value of that axis with which all others are compared.
    """

    name: str
    title: str = ""
    scale: str = ""
    axis: str = "distance"
    against: str = "mean"


@dataclass(frozen=True)
class CellLine:
    """One cell of a study: what was run, how, and what came out.

    Attributes:
        cell: its name.
        axes: what tells it from the other cells but for the seed: source, method, distance, per_class or
            budget, and whatever else varies.
        settings: of the method, as far as the study or its tuning gave them.
        tuned: those of them that were chosen on validation records.
        seed: of the condensation, and of the networks that evaluate it.
        key: a hash of all that the cell was asked; a line of another key is not of the same cell.
        sentence: why it failed, if it did.
        command: what makes the same run without a study.
        commit: of the software; empty outside of a repository.
        environment: versions, machine and threads.
        records: that the networks were trained on.
        seconds: of the `bank` it shares with others, of `condense` and of `evaluate`; `cpu` is what
            condensing took of all cores, which other work on the machine hardly changes.
        memory: bytes that the process had at most while it condensed.
        protocol: of the evaluation, in words.
        scores: by kind of network, the accuracy of every network; of a stream, the average accuracy.
        baselines: the accuracy of every network that was trained on real records, by how these were chosen.
        transfer: the backward transfer of a stream.
        paper: the accuracy in percent that a paper reports, if it does.
    """

    study: StudyHead
    cell: str
    axes: dict[str, Value]
    seed: int
    key: str = ""
    state: Literal["done", "failed"] = "done"
    sentence: str = ""
    settings: dict[str, Value] = field(default_factory=dict)
    tuned: dict[str, Value] = field(default_factory=dict)
    command: str = ""
    commit: str = ""
    environment: dict[str, Value] = field(default_factory=dict)
    steps: int = 0
    records: int = 0
    seconds: dict[str, Seconds] = field(default_factory=dict)
    memory: Annotated[int, Field(ge=0)] | None = None
    protocol: str = ""
    scores: dict[str, Shares] = field(default_factory=dict)
    baselines: dict[str, Shares] = field(default_factory=dict)
    transfer: Share | None = None
    paper: float | None = None

    @property
    def networks(self) -> int:
        """How many evaluated it, of the first kind."""
        return len(next(iter(self.scores.values()), ()))

    @property
    def cost(self) -> float:
        """Seconds of making the set, without its share of a bank and its evaluation."""
        return self.seconds.get("condense", 0.0)

    def accuracy(self, network: str | None = None) -> float:
        """The mean over the networks of a kind, the first if none is named."""
        return fmean(self.scores[next(iter(self.scores)) if network is None else network])


_LINE = TypeAdapter(CellLine)


def write_cell(path: Path, line: CellLine) -> None:
    """Add a line to a file; it is on the disk when this returns."""
    append_lines(path, [asdict(line)])


def read_cells(path: Path) -> list[CellLine]:
    """The last line of each cell of a file, in the order in which they first came.

    Raises:
        ArtifactError: when a line is not one of a study.
    """
    found: dict[str, CellLine] = {}
    for line in read_records(path, _LINE, "remove the line, and the study runs the cell again"):
        found[line.cell] = line
    return [*found.values()]


def read_records(path: Path, kind: "TypeAdapter[_Record]", remedy: str) -> Iterator[_Record]:
    """The lines of a file as what they should be.

    Raises:
        ArtifactError: when one is something else; it ends with the remedy.
    """
    lines = read_log(path, None)
    warn_of_damage(path, lines)
    for line in lines:
        if line.record is None:
            continue
        try:
            yield kind.validate_python(line.record)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise ArtifactError(
                f"line {line.number} of {path} is not one of a study ({place}: {first['msg']}); {remedy}"
            ) from None


def done(lines: Sequence[CellLine]) -> list[CellLine]:
    """Those that have a score."""
    return [line for line in lines if line.state == "done" and line.scores]


def without(axes: dict[str, Value], *names: str) -> dict[str, Any]:
    """Axes but for some."""
    return {name: value for name, value in axes.items() if name not in names}
