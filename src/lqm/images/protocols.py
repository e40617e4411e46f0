"""How networks are trained on images and tested: the field's ways, by name."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from lqm.evaluation.protocol import Protocol, bounded_epochs
from lqm.images.networks import NETWORKS
from lqm.images.training import Schedule


@dataclass(frozen=True)
class EvaluationProtocol(Protocol):
    """How networks are trained on images and evaluated.

    The schedule is the field's: epochs 0 to `epochs`, and after epoch `epochs // 2 + 1` a new optimiser
    with a tenth of the learning rate. The whole training set, on which that would take days, is learned by
    `full_networks` networks, each in about `full_steps` steps of the same schedule.

    Attributes:
        learned: whether a set with a learning rate of its own is learned at that.
        schedule: `half`, the field's, or `fifths`: a fifth of the rate after two thirds and after five sixths
            of the epochs, with the same optimiser (Kim et al. 2022, IDC).
        augmentation: `one` operation for each image, or `several`: flip, color, and one of crop, scale and
            rotate.
        cutmix: the probability that a batch is mixed by CutMix.
        test_every: epochs between tests along the training, the best of which is told apart from the last;
            0 for none.
    """

    records: ClassVar[str] = "images"
    later: ClassVar[tuple[str, ...]] = ("learned", "schedule", "augmentation", "cutmix", "test_every")

    network: str = "convnet"
    full_networks: int = 5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    full_steps: int = 40_000
    momentum: float = 0.9
    batch: int = 256
    learned: bool = False
    schedule: Schedule = "half"
    augmentation: Literal["one", "several"] = "one"
    cutmix: float = 0.0
    test_every: int = 0

    @property
    def kind(self) -> str:
        """The network in words."""
        known = self.network.partition(":")[0] in NETWORKS
        return NETWORKS.describe(self.network) if known else self.network.removeprefix("own:")

    @property
    def rate(self) -> str:
        """The learning rate in words."""
        return f"the set's own rate ({self.learning_rate:g} if it has none)" if self.learned else super().rate

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many images; fewer on a large `full` training set."""
        return bounded_epochs(self.epochs, records, self.batch, self.full_steps) if full else self.epochs


_IDC: dict[str, Any] = {"schedule": "fifths", "augmentation": "several", "cutmix": 0.5, "test_every": 250}
PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        EvaluationProtocol("field-1000", epochs=1000, networks=5),
        EvaluationProtocol("field-2000", epochs=2000, networks=5),
        EvaluationProtocol("datadam-1800", epochs=1800, networks=10, batch=64),
        EvaluationProtocol("dsa-1000", epochs=1000, networks=5),
        EvaluationProtocol("learned-1000", epochs=1000, networks=5, learned=True),
        EvaluationProtocol("soft-1000", epochs=1000, networks=5, batch=128, learned=True),
        EvaluationProtocol("idc-1000", epochs=1000, networks=5, batch=64, **_IDC),
        EvaluationProtocol("idc-1500", epochs=1500, networks=5, batch=64, **_IDC),
        EvaluationProtocol(
            "idc-200",
            200,
            3,
            "convnet:width=32",
            full_networks=2,
            full_steps=4000,
            learning_rate=0.02,
            batch=64,
            **(_IDC | {"test_every": 0}),
        ),
        EvaluationProtocol(
            "learned-200",
            200,
            4,
            "convnet:width=32",
            full_networks=1,
            full_steps=2000,
            learning_rate=0.1,
            learned=True,
        ),
        EvaluationProtocol(
            "quick-200", 200, 4, "convnet:width=32", full_networks=1, full_steps=2000, learning_rate=0.1
        ),
        EvaluationProtocol(
            "cross-200", 200, 2, "convnet:width=32", full_networks=1, full_steps=2000, learning_rate=0.03
        ),
    )
}
