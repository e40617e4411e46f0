"""What a set of rows is worth: the test accuracy of models that were trained on it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import sklearn
import torch

from lqm.condensed import CondensedTable
from lqm.engine.compute import Compute
from lqm.engine.randomness import generator, seeded
from lqm.evaluation.evaluator import Evaluator
from lqm.evaluation.latents import ClassLatents, LatentMatch, match_of_classes, matched
from lqm.evaluation.protocol import Protocol, bounded_epochs
from lqm.evaluation.score_cache import Finding
from lqm.evaluation.scores import finding
from lqm.methods.networks import Network
from lqm.tabular.baselines import BASELINES, MORE_BASELINES, baseline
from lqm.tabular.networks import NETWORKS, NetworkMaker
from lqm.tabular.sources import Rows, TableSource, load_table
from lqm.tabular.training import embedded, logits_of, train
from lqm.utils.errors import DataError


@dataclass(frozen=True)
class TableProtocol(Protocol):
    """How models are trained on standardised rows and tested.

    Networks learn by Adam in batches, at one rate. On the whole training set, which may be large, each makes
    about `full_steps` steps at most. Logistic regression is fitted by scikit-learn: nothing of it is random,
    so that models of the same rows are equal, and it depends on `regularisation` alone.

    Attributes:
        regularisation: C of logistic regression.
    """

    records: ClassVar[str] = "rows"

    network: str = "mlp"
    full_networks: int = 5
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    batch: int = 256
    full_steps: int = 10_000
    regularisation: float = 1.0

    def __str__(self) -> str:
        if self.network != "logistic":
            return super().__str__()
        over = f"; ± over {self.networks} choices of random rows, and 0 where nothing is random"
        fit = f"{self.name}: logistic regression by scikit-learn, L2 with C = {self.regularisation:g}"
        return fit + over * (self.networks > 1)

    def in_words(self, full_records: int | None = None) -> str:
        """How models were trained; logistic regression has no epochs."""
        return str(self) if self.network == "logistic" else super().in_words(full_records)

    @property
    def kind(self) -> str:
        """The network in words."""
        known = self.network.partition(":")[0] in NETWORKS
        return NETWORKS.describe(self.network) if known else self.network.removeprefix("own:")

    def epochs_for(self, records: int, *, full: bool = False) -> int:
        """Epochs on a set of so many rows; fewer on a large `full` training set."""
        return bounded_epochs(self.epochs, records, self.batch, self.full_steps) if full else self.epochs


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        TableProtocol("table-mlp-200", epochs=200, networks=10),
        TableProtocol("logistic", epochs=200, networks=20, network="logistic", full_networks=1),
    )
}


def _finder(
    source: TableSource,
    protocol: TableProtocol,
    maker: str | NetworkMaker,
    seed: int,
    device: torch.device,
    full: bool,
    compute: Compute,
) -> Callable[[Rows, int], Finding]:
    test = source.standardised_test

    def find(rows: Rows, index: int) -> Finding:
        network = fresh_network(source, maker, seed, index).to(device)
        before = latent_match(network, rows, source)
        teach(network, rows, protocol, seed=seed, index=index, full=full)
        after = latent_match(network, rows, source)
        predicted = logits_of(network, test.features).argmax(dim=1)
        return finding(predicted, test.labels, len(source.class_names), before, after)

    return find


def teach(
    network: Network, rows: Rows, protocol: TableProtocol, *, seed: int, index: int, full: bool = False
) -> None:
    """Train network number `index` of an evaluation."""
    with seeded(seed, "evaluation training", index):
        train(
            network,
            rows,
            epochs=protocol.epochs_for(len(rows.labels), full=full),
            learning_rate=protocol.learning_rate,
            weight_decay=protocol.weight_decay,
            batch=protocol.batch,
            regularisation=protocol.regularisation,
            draws=generator(seed, "evaluation batches", index),
        )


def fresh_network(source: TableSource, maker: str | NetworkMaker, seed: int, index: int) -> Network:
    """Network number `index` of an evaluation, before its training.

    Raises:
        DataError: when the source has no test rows.
    """
    if not len(source.test.labels):
        raise DataError(
            f"'{source.name}' has no test rows to evaluate by; make it with test=(X, y) or a test_fraction"
        )
    with seeded(seed, "evaluation network", index):
        return NETWORKS.make(maker, *source.shape, len(source.class_names))


def latent_match(network: Network, rows: Rows, source: TableSource) -> LatentMatch:
    """How well rows keep the latent distributions of their classes under one network."""
    return match_of_classes(next(_latents(network, [rows], source)))


def _latents(network: Network, sets: Sequence[Rows], source: TableSource) -> Iterator[list[ClassLatents]]:
    """The latent features of each class; of at most 500 real rows, always the same."""
    real = [embedded(network, matched(rows, label)) for label, rows in enumerate(source.by_class)]
    for rows in sets:
        yield [
            ClassLatents(label, features, embedded(network, matched(rows.of_class(label), label)))
            for label, features in enumerate(real)
        ]


def _baseline(
    name: str,
    condensed: CondensedTable,
    source: TableSource,
    protocol: Protocol,
    seed: int,
    device: torch.device,
) -> Callable[[int], Rows]:
    counts = condensed.labels.bincount(minlength=len(source.class_names))
    return baseline(name, source, counts.tolist(), seed)


def _key(rows: Rows, source: TableSource, full: bool, compute: Compute) -> dict[str, Any]:
    return {
        "rows": rows.digest,
        "full": full,
        "standardisation": source.standardisation.digest,
        "scikit-learn": sklearn.__version__,
    }


ROWS = Evaluator(
    what="table",
    told_by="rows, labels, names or test rows",
    protocols=PROTOCOLS,
    baselines=BASELINES,
    more_baselines=MORE_BASELINES,
    read_protocol=TableProtocol,
    check_spec=NETWORKS.check,
    find_source=load_table,
    fresh_network=fresh_network,
    as_records=lambda condensed: Rows(condensed.data, condensed.labels),
    baseline=_baseline,
    key=_key,
    finder=_finder,
    latents=_latents,
    remedies="more steps, another learning_rate, more rows a class or k-means",
)
