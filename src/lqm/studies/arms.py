"""What settings are chosen for: the arms of a study, and the candidates of each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from lqm.evaluation.labels import hash_of, key_of
from lqm.studies.cell import Cell
from lqm.studies.grid import word
from lqm.studies.lines import Value, without
from lqm.utils.errors import ConfigError

# The seeds that each rung of tuning adds; no cell of a study has them.
RUNGS = ((100,), (101,), (102, 103))


@dataclass(frozen=True)
class Arm:
    """The cells of a study that differ by their seed alone.

    Attributes:
        cell: the first of them.
    """

    cell: Cell

    @property
    def name(self) -> str:
        """That of its cells, without the seed."""
        return self.cell.kind

    @property
    def candidates(self) -> list[dict[str, Value]]:
        """Every combination of the values among which is chosen."""
        tune = self.cell.tune
        return [dict(zip(tune, values, strict=True)) for values in product(*tune.values())]

    @property
    def key(self) -> str:
        """A hash of all on which the choice depends."""
        return hash_of([self.trial({}, 0).key, self.candidates, RUNGS])

    def trial(self, settings: dict[str, Value], seed: int) -> Cell:
        """A run with the settings of a candidate, scored on validation records by one kind of network."""
        cell = self.cell
        words = (word(f"{name}={value}") for name, value in settings.items())
        evaluation = without(cell.evaluation, "baselines")
        if networks := evaluation.get("networks"):
            evaluation["networks"] = (networks.split(",") if isinstance(networks, str) else networks)[0]
        return replace(
            cell,
            name="-".join([self.name, *words, "validation", f"seed-{seed}"]),
            seed=seed,
            settings=cell.settings | settings,
            evaluation=evaluation,
            tune={},
            tuned={},
            bank=cell.bank and cell.bank.for_validation(),
            validation=True,
            paper=None,
        )


def arms_of(cells: Sequence[Cell]) -> list[Arm]:
    """The arms of cells that have something to choose.

    Raises:
        ConfigError: when settings would not be chosen alike for all distances, when one is an axis too, or
            when a cell has a seed of the tuning.
    """
    taken = [seed for rung in RUNGS for seed in rung]
    found: dict[str, Arm] = {}
    others: dict[str, Arm] = {}
    for arm in map(Arm, cells):
        cell = arm.cell
        beside = others.setdefault(key_of(without(cell.axes, "distance")), arm)
        if cell.tune != beside.cell.tune:
            raise ConfigError(
                f"the settings of {beside.name} and of {arm.name} would be chosen among different values; "
                "give all distances the same tune"
            )
        for name in cell.tune:
            if name in cell.axes:
                raise ConfigError(f"{name} is a list in settings and in tune; leave it out of one of them")
        if cell.tune and cell.seed in taken:
            raise ConfigError(f"seed {cell.seed} is one of those that tuning takes; give the study others")
        if cell.tune:
            found.setdefault(arm.key, arm)
    return [*found.values()]
