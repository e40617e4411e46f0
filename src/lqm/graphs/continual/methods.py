"""The table of ways to learn from a stream of tasks."""

from dataclasses import dataclass, fields
from typing import Any

from lqm.graphs.continual.settings import (
    CondensedReplaySettings,
    FinetuningSettings,
    LearningSettings,
    NoSettings,
    PUMAReplaySettings,
    RealMemorySettings,
    ReplaySettings,
    SubgraphSettings,
)
from lqm.graphs.continual.storing import Store, store_nearest_to_mean, store_random, store_subgraph
from lqm.graphs.methods import METHODS
from lqm.methods.spec import MethodSpec


@dataclass(frozen=True)
class ContinualMethod:
    """What is kept of the tasks before, and with which settings.

    Attributes:
        learning: the settings of the classifier.
        memory: those of the memory.
        condense: makes the synthetic nodes of a memory, by a distance.
        store: chooses the real nodes of a memory.
        keeps: whether tasks before are looked at again; without a memory, all of them.
    """

    learning: type[LearningSettings]
    memory: type[Any] = NoSettings
    condense: MethodSpec | None = None
    store: Store | None = None
    keeps: bool = True

    @property
    def setting_names(self) -> list[str]:
        """Everything that can be set."""
        return [field.name for kind in (self.learning, self.memory) for field in fields(kind)]

    @property
    def has_memory(self) -> bool:
        """Whether it keeps so many nodes of each task, and so needs a budget."""
        return self.condense is not None or self.store is not None


def _condensed(name: str, learning: type[LearningSettings]) -> ContinualMethod:
    return ContinualMethod(learning, METHODS[name].settings, condense=METHODS[name])


CONTINUAL_METHODS: dict[str, ContinualMethod] = {
    "finetuning": ContinualMethod(FinetuningSettings, keeps=False),
    "joint": ContinualMethod(LearningSettings),
    "cat": _condensed("cat", CondensedReplaySettings),
    "puma": _condensed("puma", PUMAReplaySettings),
    "random": ContinualMethod(ReplaySettings, RealMemorySettings, store=store_random),
    "er-gnn": ContinualMethod(ReplaySettings, RealMemorySettings, store=store_nearest_to_mean),
    "ssm": ContinualMethod(ReplaySettings, SubgraphSettings, store=store_subgraph),
}
