"""How networks are trained and tested."""

from dataclasses import asdict, dataclass, fields
from math import ceil
from typing import Any, ClassVar

from lqm.utils.sentences import counted


def bounded_epochs(epochs: int, records: int, batch: int, steps: int) -> int:
    """So many epochs over records in batches, or fewer, in which about `steps` steps are made."""
    return min(epochs, ceil(steps / ceil(records / batch)))


@dataclass(frozen=True)
class Protocol:
    """How networks are trained and tested; fixed, named, and printed beside every score.

    The last network counts; nothing is selected by test accuracy.

    Attributes:
        records: what the networks are trained on, in one word.
        network: a spec, or `own:` and the name of one of the user's own.
        full_networks: how many networks learn the whole training set.
    """

    records: ClassVar[str]
    later: ClassVar[tuple[str, ...]] = ()

    name: str
    epochs: int
    networks: int
    network: str
    full_networks: int
    learning_rate: float
    weight_decay: float

    def __str__(self) -> str:
        over = f", mean ± sample standard deviation over {self.networks} networks" * (self.networks > 1)
        return (
            f"{self.name}: {self.networks} fresh {self.kind}, {self.epochs} epochs each at {self.rate}{over}"
        )

    @property
    def rate(self) -> str:
        """The learning rate in words."""
        return f"rate {self.learning_rate:g}"

    @property
    def kind(self) -> str:
        """The network in words."""
        raise NotImplementedError

    @property
    def rules(self) -> dict[str, Any]:
        """All that the score of one network follows from."""
        counts = ("name", "networks", "full_networks")
        return {name: rule for name, rule in self.record.items() if name not in counts}

    @property
    def record(self) -> dict[str, Any]:
        """All of it, but for rules that came later and are as they always were."""
        usual = {field.name: field.default for field in fields(self) if field.name in self.later}
        return {name: rule for name, rule in asdict(self).items() if name not in usual or rule != usual[name]}

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many records, or on the `full` training set."""
        return self.epochs

    def in_words(self, full_records: int | None = None) -> str:
        """How networks were trained, those on the full training set of so many records too."""
        if full_records is None:
            return str(self)
        epochs = self.epochs_for(full_records, full=True)
        return f"{self}; full: {counted(self.full_networks, 'network', 'networks')}, {epochs} epochs"
