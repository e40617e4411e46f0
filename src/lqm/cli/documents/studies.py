"""The document of a study."""

from pydantic.dataclasses import dataclass

from lqm.cli.documents.base import STRICT, DifferenceEntry, Document, Value


@dataclass(frozen=True, kw_only=True, config=STRICT)
class CellEntry:
    """A cell of a study.

    Attributes:
        cell: its name.
        state: done or failed.
        sentence: why it failed; empty if it did not.
        axes: what tells it from the other cells but for the seed.
        seed: of the condensation and of the networks.
        steps: of the condensation.
        records: that the networks were trained on.
        seconds: of the bank it shares, of condensing and of evaluating.
        memory: bytes at most while it was condensed; null where that is not known.
        protocol: of the evaluation, in words.
        scores: by kind of network, the accuracy of every network; of a stream, the average accuracy.
        baselines: the accuracy of every network that was trained on real records, by how they were chosen.
        transfer: the backward transfer of a stream; else null.
        paper: the accuracy in percent that a paper reports; null if none does.
        command: what makes the same run without a study.
    """

    cell: str
    state: str
    sentence: str
    axes: dict[str, Value]
    seed: int
    steps: int
    records: int
    seconds: dict[str, float]
    memory: int | None
    protocol: str
    scores: dict[str, list[float]]
    baselines: dict[str, list[float]]
    transfer: float | None
    paper: float | None
    command: str


@dataclass(frozen=True, kw_only=True, config=STRICT)
class StudyDocument(Document):
    """What a study has found.

    Attributes:
        study: its name.
        scale: of its settings; empty where it knows one only.
        folder: where its lines, runs and banks are.
        cells: one entry each, in the order of the study.
        differences: in pairs, along the axis that the study compares.
    """

    command: str = "study"
    study: str
    scale: str
    folder: str
    cells: list[CellEntry]
    differences: list[DifferenceEntry]
