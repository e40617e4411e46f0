"""A study, and the runs that it consists of."""

from dataclasses import asdict, field, replace
from typing import Any, Literal

from pydantic.dataclasses import dataclass

from lqm.evaluation.labels import hash_of
from lqm.studies.lines import StudyHead, Value


@dataclass(frozen=True)
class Bank:
    """What cells share, built once: a sketch of the real data, or experts that were trained on them.

    Attributes:
        kind: which of the two.
        name: its folder.
        options: of `lqm sketch` or `lqm experts`.
    """

    kind: Literal["sketch", "experts"]
    name: str
    options: dict[str, Any]

    def for_validation(self) -> "Bank":
        """The same of the records that are trained on when settings are chosen."""
        return replace(self, name=f"{self.name}-validation", options=self.options | {"validation": True})


@dataclass(frozen=True)
class Cell:
    """One run of a study.

    Attributes:
        name: tells it from all other cells.
        axes: what tells it from the other cells but for the seed.
        options: of `lqm condense`, or of `lqm continual` where classes come in tasks.
        settings: of the method.
        seed: of the condensation, and of the networks that evaluate it.
        evaluation: protocol, networks and baselines, as far as they are given.
        tune: the values among which `--tune` chooses a setting.
        tuned: what it chose.
        bank: what it shares with other cells.
        validation: whether it is tested on validation records, and not on the test records.
        paper: the accuracy in percent that a paper reports.
    """

    name: str
    axes: dict[str, Value]
    options: dict[str, Any]
    seed: int
    settings: dict[str, Value] = field(default_factory=dict)
    evaluation: dict[str, Any] = field(default_factory=dict)
    tune: dict[str, list[Value]] = field(default_factory=dict)
    tuned: dict[str, Value] = field(default_factory=dict)
    bank: Bank | None = None
    validation: bool = False
    paper: float | None = None

    @property
    def key(self) -> str:
        """A hash of all that it asks for; the published number and what might be tuned change nothing."""
        return hash_of(asdict(replace(self, tune={}, paper=None)))

    @property
    def kind(self) -> str:
        """Its name without the seed: the same for cells that differ by their seed alone."""
        return self.name.removesuffix(f"-seed-{self.seed}")

    @property
    def folder(self) -> str:
        """Of its run; a cell that is asked for something else has another one."""
        return f"{self.name}-{self.key[:8]}"

    @property
    def compute(self) -> dict[str, Any]:
        """How its networks are run, those that evaluate it too, as far as the grid says it."""
        return {name: self.options[name] for name in ("compile", "precision") if name in self.options}

    @property
    def stream(self) -> bool:
        """Whether its classes come in tasks."""
        return "classes_per_task" in self.options


@dataclass(frozen=True)
class Study:
    """What a study is called and compares, and its cells, all of a seed before those of the next."""

    head: StudyHead
    cells: tuple[Cell, ...]
