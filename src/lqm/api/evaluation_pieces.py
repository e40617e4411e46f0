"""The networks of an evaluation as pieces of work, trained by an executor before their scores are read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from lqm.api.engines import results
from lqm.api.evaluation_result import evaluator_of
from lqm.api.given import real_data
from lqm.condensed import CondensedSet, load_described
from lqm.engine import resolve_device
from lqm.engine.compute import Compute
from lqm.engine.forecast import SHORTER, Forecast
from lqm.engine.progress import Progress
from lqm.evaluation.evaluator import Evaluator, Training
from lqm.evaluation.origins import real_data_of
from lqm.evaluation.protocol import Protocol
from lqm.evaluation.score_cache import cached, store
from lqm.executors import Do, Executor, Piece, Work
from lqm.utils.cache import Packed
from lqm.utils.limits import limited_to


@dataclass(frozen=True, eq=False)
class Sets:
    """The training sets of an evaluation, each made when it is first asked for.

    Attributes:
        condensed: the set that is evaluated.
        data: the real data.
        rules: the protocol.
        seed: of networks, of their training, and of the choice of real records.
    """

    condensed: CondensedSet
    data: Any
    rules: Protocol
    seed: int
    device: torch.device
    made: dict[str, Callable[[int], Any]]

    @property
    def evaluator(self) -> Evaluator:
        """How sets of this kind are evaluated."""
        return evaluator_of(self.condensed)

    def records(self, name: str, j: int) -> Any:
        """What network j is trained on."""
        if name not in self.made:
            self.made[name] = self.evaluator.records(
                name, self.condensed, self.data, self.rules, self.seed, self.device
            )
        return self.made[name](j)

    def training(self, name: str, network: str, compute: Compute | None) -> Training:
        """How networks of a kind are trained on a set."""
        own, full = replace(self.rules, network=network), name == "full"
        return Training(self.data, own, self.seed, self.device, full, compute or Compute())


# A kind of networks, a training set, and how they compute.
Asked = tuple[str, str, Compute | None]


def train_missing(
    sets: Sets,
    asked: Sequence[Asked],
    executor: Executor,
    *,
    threads: int,
    context: Mapping[str, Any],
    findable: bool,
    show_progress: bool,
) -> None:
    """Let an executor train the networks that have no score in the cache, and keep theirs.

    Raises:
        LqmError: when networks have failed; the scores of all others are kept.
    """
    keys: dict[str, dict[str, Any]] = {}
    pieces = []
    for network, name, compute in asked:
        training = sets.training(name, network, compute)
        for j in range(training.networks):
            key = sets.evaluator.network_key(sets.records(name, j), j, training)
            if cached(key, sets.device) is None:
                given = {"network": network, "set": name, "index": j, "compute": asdict(training.compute)}
                pieces.append(Piece(f"network {j} ({network}) on {name}", Packed({}, given)))
                keys[pieces[-1].name] = key
    work = Work(
        do=_trained(sets),
        opener=f"{__name__}:open_evaluation_work",
        context={**context, "protocol": sets.rules.record, "seed": sets.seed, "device": str(sets.device)},
        threads=threads,
        data=(sets.condensed, sets.data),
        findable=findable,
        device=sets.device.type,
    )
    forecast = Forecast(len(pieces), shorter=SHORTER["evaluate"])
    with Progress("evaluate", len(pieces), shown=show_progress, forecast=forecast, each="network") as bar:
        trained = results(executor, work, pieces, forecast, "network")
        for done, (piece, found) in enumerate(trained, start=1):
            finding = found.notes["finding"]
            store(keys[piece.name], sets.device, finding)
            bar.update(done, {"accuracy": finding["accuracy"][0], "workers": executor.workers})


def open_evaluation_work(context: Mapping[str, Any], data: Any) -> Do:
    """What trains networks in another process."""
    if data is None:
        condensed = load_described(Path(context["set"]))
        with limited_to(context["max_memory"]):
            real = real_data(condensed, context["source"], show_progress=False)
        evaluator = evaluator_of(condensed)
        source = real_data_of(evaluator, condensed, real, context["data_dir"], context["max_memory"])
    else:
        condensed, source = data
    rules = evaluator_of(condensed).stored_protocol(context["protocol"])
    return _trained(Sets(condensed, source, rules, context["seed"], resolve_device(context["device"]), {}))


def _trained(sets: Sets) -> Do:
    def do(given: Packed) -> Iterator[Packed]:
        name, j = given.notes["set"], given.notes["index"]
        training = sets.training(name, given.notes["network"], Compute(**given.notes["compute"]))
        finding = sets.evaluator.trained(sets.records(name, j), j, training)
        yield Packed({}, {"finding": finding})

    return do
