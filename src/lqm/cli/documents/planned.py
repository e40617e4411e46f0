"""What `--dry-run` and `lqm study --estimate` print."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, Document


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PlannedEntry:
    """Work of one kind.

    Attributes:
        name: of the run, the bank, or the kind of cell.
        count: how often it is to be done; of a bank, the share of it that is still to be built.
        seconds: of each.
        memory: bytes that each takes at most.
        disk: bytes that each leaves on the disk.
        measured: whether this kind was measured, or stands for one that is like it.
        problem: why it can't be done; empty if it can.
    """

    name: str
    count: float
    seconds: float
    memory: int
    disk: int
    measured: bool
    problem: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class PlanDocument(Document):
    """What would be done, and what it would take.

    Attributes:
        dry_run: always true; no result has this field.
        source: the sizes of the data, in words; empty for a study, which may have several.
        settings: recipe and settings, in words, a line each.
        result: what would be made, and where.
        work: by kind.
        seconds: of all work that is left.
        memory: bytes at most at any moment.
        disk: bytes on the disk in the end.
        warnings: such as that it takes above an hour, and what would make it shorter.
    """

    dry_run: bool = True
    source: str
    settings: list[str]
    result: str
    work: list[PlannedEntry]
    seconds: float
    memory: int
    disk: int
    warnings: list[str]
